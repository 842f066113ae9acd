import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { aMessage, aTurn, type TurnBody } from './turns.js';

const FILE = fileURLToPath(new URL('../../../shared/data/tau-bench/turns.ndjson', import.meta.url));

/** 200 real turns of four agents where the data lie beside the checkout, else as many made ones; `source` says which. */
export function manyTurns(): { source: string; turns: TurnBody[] } {
  if (existsSync(FILE)) {
    const lines = readFileSync(FILE, 'utf8').trim().split('\n');
    return { source: 'tau-bench', turns: lines.map((line) => JSON.parse(line) as TurnBody) };
  }
  const turns = Array.from({ length: 200 }, (_, index) =>
    aTurn({
      turn_id: randomUUID(),
      agent: `support-${(index % 4) + 1}`,
      trigger_event_ids: [`event-${index}`],
      interactions: [aMessage({ body: `Request ${index}: where is my order?` })],
    }),
  );
  return { source: 'made turns, since ../shared/data is absent', turns };
}
