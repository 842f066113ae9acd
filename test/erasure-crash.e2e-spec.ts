import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resetDatabase } from './support/database.js';
import { serviceDatabase, ServiceProcess } from './support/service-process.js';
import { aMessage, aTurn } from './support/turns.js';

const TURNS = 500;

interface State {
  turns: number;
  subjects: number;
  episodes: number;
  named: number;
}

describe('a service that is killed while it erases', () => {
  let database: Awaited<ReturnType<typeof serviceDatabase>>;
  let service: ServiceProcess;

  beforeAll(async () => {
    await resetDatabase();
    database = await serviceDatabase();
    service = await ServiceProcess.start(database.env);
    const zelda = aMessage({ external_id: 'UXZELDA7', display_name: 'Zelda Quux' });
    const bob = aMessage({ external_id: 'U9BOB', display_name: 'Bob Roe', body: 'Zelda Quux is away' });
    const turns = Array.from({ length: TURNS }, (_, n) =>
      aTurn({ interactions: n % 2 === 0 ? [zelda] : [zelda, { ...bob, body: `Zelda Quux is away ${n}` }] }),
    );
    const { status } = await service.post('/turns/batch', { turns, reflect: false });
    expect(status).toBe(200);
  }, 90_000);

  afterAll(async () => {
    await service.end('SIGTERM');
    await database.remove();
  });

  async function state(): Promise<State> {
    const response = await fetch(`${service.url}/agents/support-1/export`);
    if (response.status === 404) return { turns: 0, subjects: 0, episodes: 0, named: 0 };
    const lines = (await response.text()).trimEnd().split('\n').slice(1);
    const ofType = (type: string): number => lines.filter((line) => line.startsWith(`{"type":"${type}"`)).length;
    return {
      turns: ofType('turn'),
      subjects: ofType('turn_subject'),
      episodes: ofType('episode'),
      named: lines.filter((line) => /Zelda Quux|UXZELDA7/.test(line)).length,
    };
  }

  const whole = { turns: TURNS, subjects: TURNS * 1.5, episodes: TURNS };
  const half = { turns: TURNS / 2, subjects: TURNS / 2, episodes: TURNS / 2, named: 0 };

  it('has erased a person wholly or not at all', async () => {
    let erased = false;
    for (const delay of [5, 60, 250]) {
      const call = service.post('/erasures', { platform: 'slack', external_id: 'UXZELDA7' }).catch(() => undefined);
      await pause(delay);
      await service.end('SIGKILL');
      const answer = await call;
      service = await ServiceProcess.start(database.env);
      const after = await state();
      erased ||= after.named === 0;
      // What was answered is durable, and nothing is done by half.
      if (answer) expect(erased).toBe(true);
      expect(after).toEqual(erased ? half : { ...whole, named: after.named });
      if (!erased) expect(after.named).toBe(TURNS * 2.5);
    }
    const { body } = await service.post<{ tables: Record<string, number> }>('/erasures', {
      platform: 'slack',
      external_id: 'UXZELDA7',
    });
    expect(await state()).toEqual(half);
    if (!erased) expect(body.tables).toMatchObject({ turns: TURNS, turn_subjects: TURNS });
  }, 120_000);

  it('has erased an agent wholly or not at all', async () => {
    for (const delay of [2, 20]) {
      const call = fetch(`${service.url}/agents/support-1`, { method: 'DELETE' }).catch(() => undefined);
      await pause(delay);
      await service.end('SIGKILL');
      await call;
      service = await ServiceProcess.start(database.env);
      expect([half, { turns: 0, subjects: 0, episodes: 0, named: 0 }]).toContainEqual(await state());
    }
  }, 120_000);
});
