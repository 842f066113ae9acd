import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { EpisodeView } from '../src/memories/episodes/episode.view.js';
import { startApp, type TestApp } from './support/app.js';
import { resetDatabase } from './support/database.js';
import { aPastTurn, backfill, inventoryOf, Passes } from './support/episodes.js';
import { eventually } from './support/requests.js';
import { ScriptedModel } from './support/scripted-model.js';
import { serviceDatabase, ServiceProcess } from './support/service-process.js';

const SUMMARY = JSON.stringify({
  common_task_pattern: 'Errands',
  common_outcome: 'Done',
  subjects_involved: [],
  notable_patterns: '',
});

interface Job {
  last_error: string | null;
}

/** A kill takes seconds of restart, on Postgres twenty: a longer run asks for more, at other moments. */
const KILLS = Number(process.env.COMPACTION_KILLS ?? 3);
const KINDS = 6 + KILLS;
const EACH = 5;

/** Old turns of as many kinds as there will be clusters. */
const oldTurns = (agent: string): ReturnType<typeof aPastTurn>[] =>
  Array.from({ length: KINDS * EACH }, (_, index) =>
    aPastTurn(agent, { daysAgo: 40 + index, tools: [`kind-${index % KINDS}`, 'send'], body: `Errand ${index}` }),
  );

describe('a service that is killed while it compacts', () => {
  const agent = 'keeper';
  let model: ScriptedModel;
  let database: Awaited<ReturnType<typeof serviceDatabase>>;
  let directory: string;
  let service: ServiceProcess;
  /** The kills to come: so many calls are answered before, and so many milliseconds after the next one it happens. */
  const kills: { skip: number; delayMs: number }[] = [];
  let restarts: Promise<void> = Promise.resolve();

  const start = (): Promise<ServiceProcess> =>
    ServiceProcess.start({
      ...database.env,
      LEARNING_CONFIG: join(directory, 'learning.yaml'),
      ANTHROPIC_API_KEY: 'test',
      ANTHROPIC_BASE_URL: model.anthropicUrl,
    });

  beforeAll(async () => {
    await resetDatabase();
    model = await ScriptedModel.start();
    model.reply('episode_compactor', async () => {
      // A service that is only just ready must not be killed before it is known as the one that runs.
      await restarts;
      const kill = kills[0];
      if (kill && kill.skip-- === 0) {
        kills.shift();
        restarts = new Promise((resolve, reject) => {
          setTimeout(() => void restart().then(resolve, reject), kill.delayMs);
        });
      }
      await new Promise((resolve) => setTimeout(resolve, 15));
      return SUMMARY;
    });
    directory = await mkdtemp(join(tmpdir(), 'agent-learning-crash-'));
    await writeFile(
      join(directory, 'learning.yaml'),
      JSON.stringify({ learning: { reflect: { retry_base_seconds: 0.1 } } }),
    );
    database = await serviceDatabase();
    service = await start();
  }, 120_000);

  afterAll(async () => {
    await service?.end('SIGTERM');
    await model.close();
    await database.remove();
    await rm(directory, { recursive: true });
  });

  const post = async (turns: readonly object[]): Promise<void> => {
    const { status } = await service.post('/turns/batch', { turns, reflect: false });
    if (status !== 200) throw new Error(`POST /turns/batch: ${status}`);
  };

  const restart = async (): Promise<void> => {
    await service.end('SIGKILL');
    service = await start();
  };

  /** On Postgres a restarted service waits 20 seconds until it takes the jobs of the killed one for lost. */
  const killed = async (): Promise<void> => {
    for (const deadline = Date.now() + 150_000; kills.length > 0;) {
      if (Date.now() > deadline) throw new Error('the model was not called');
      await new Promise((resolve) => setTimeout(resolve, 50));
      await restarts;
    }
    await restarts;
  };

  const settled = async (): Promise<EpisodeView[]> => {
    for (const deadline = Date.now() + 30_000; Date.now() < deadline;) {
      const { total } = await service.get<{ total: number }>('/jobs?task=compact-episodes');
      if (total === 0) return service.all<EpisodeView>(`/agents/${agent}/episodes`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error('the compaction does not end');
  };

  it('has put one row in the place of each kind, and lost no turn', async () => {
    const turns = oldTurns(agent);
    await post(turns);
    // While the model thinks, and around the transaction that follows its answer.
    kills.push({ skip: 0, delayMs: 0 });
    while (kills.length < KILLS) kills.push({ skip: 1, delayMs: 10 + Math.random() * 20 });
    await service.post('/jobs/compact-episodes', { agent });
    await killed();
    const episodes = await settled();
    const compacted = episodes.filter(({ kind }) => kind === 'compacted');
    const exemplars = compacted.flatMap(({ exemplar_turn_ids: ids }) => ids!);
    const raw = episodes.filter(({ kind }) => kind === 'raw');
    const alone = raw.filter(({ turn_id: id }) => !exemplars.includes(id!));
    expect(compacted.reduce((sum, { count }) => sum + count, 0) + alone.length).toBe(turns.length);
    expect(raw.filter(({ turn_id: id }) => exemplars.includes(id!))).toHaveLength(exemplars.length);
    expect(new Set(exemplars).size).toBe(exemplars.length);
    const kinds = compacted.map(({ tool_sequence: tools, count }) => `${tools[0]} ${count}`).sort();
    expect(kinds).toEqual(Array.from({ length: KINDS }, (_, index) => `kind-${index} ${EACH}`).sort());
  }, 240_000);

  it('still takes the same turns for what they are: duplicates', async () => {
    const [turn] = oldTurns(agent);
    await post([turn!]);
    const before = (await settled()).length;
    const { body } = await service.post<{ items: { status: string }[] }>('/turns/batch', {
      turns: [turn],
      reflect: false,
    });
    expect(body.items[0]!.status).toBe('duplicate');
    expect((await settled()).length).toBe(before);
  }, 90_000);
});

describe('a compaction that fails at its last statement', () => {
  let test: TestApp;
  let model: ScriptedModel;
  let passes: Passes;

  beforeAll(async () => {
    model = await ScriptedModel.start();
    model.reply('episode_compactor', SUMMARY);
    test = await startApp({ model });
    passes = new Passes(test);
    await test.database.query(
      `create function fail_for_test() returns trigger language plpgsql as 'begin raise exception ''failed for a test''; end'`,
    );
  });

  afterAll(async () => {
    await test.database.query(`drop function fail_for_test cascade`);
    await test.close();
    await model.close();
  });

  it.each([
    ['marks the exemplars', 'episodes', 'before update', 'when (new.is_exemplar and not old.is_exemplar)'],
    ['deletes the originals', 'episodes', 'before delete', ''],
    ['counts', 'compaction_passes', 'before update', 'when (new.clusters_compacted > old.clusters_compacted)'],
  ])('as it %s has written nothing, and is whole once it is tried again', async (what, table, when, condition) => {
    const agent = `broken-${what.replaceAll(' ', '-')}`;
    const turns = Array.from({ length: 4 }, (_, index) => aPastTurn(agent, { daysAgo: 40 + index }));
    await backfill(test.http, turns);
    await test.database.query(
      `create trigger fail_for_test ${when} on ${table} for each row ${condition} execute function fail_for_test()`,
    );
    await test.http.post('/jobs/compact-episodes').send({ agent }).expect(202);
    await eventually(
      async () => ((await test.http.get('/jobs?task=compact-episodes').expect(200)).body as { items: Job[] }).items,
      (jobs) => jobs.some(({ last_error: error }) => error?.includes('failed for a test')),
    );
    const between = await inventoryOf(test.http, agent);
    expect({ raw: between.raw.length, compacted: between.compacted.length }).toEqual({ raw: 4, compacted: 0 });
    await test.database.query(`drop trigger fail_for_test on ${table}`);
    expect(await passes.run(agent)).toMatchObject({ clusters_compacted: 1, raw_replaced_by_compaction: 2 });
    const after = await inventoryOf(test.http, agent);
    expect({ raw: after.raw.length, turns: after.turns }).toEqual({ raw: 2, turns: 4 });
  });
});
