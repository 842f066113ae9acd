import type { Logger as NestLogger } from '@nestjs/common';
import { Logger } from 'graphile-worker';

/** graphile-worker's log, in ours. A failed attempt is a warning: it is tried again. */
export function graphileLogger(log: NestLogger): Logger {
  return new Logger(() => (level, message) => {
    const words: string = level;
    if (words === 'error' || words === 'warning') log.warn(message);
    else log.debug(message);
  });
}
