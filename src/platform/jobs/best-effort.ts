import type { Logger } from '@nestjs/common';

/** Runs what must not stand in the way of its caller: a failure is logged once, with what it means. */
export async function bestEffort(log: Logger, consequence: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.warn(`${consequence}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
