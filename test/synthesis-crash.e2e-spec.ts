import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { entities } from '../src/entities.js';
import type { SkillView } from '../src/memories/skills/skill.models.js';
import { Database } from '../src/platform/database/database.js';
import { startDatabase } from '../src/platform/database/start-database.js';
import { resetDatabase } from './support/database.js';
import { eventually } from './support/requests.js';
import { ScriptedModel } from './support/scripted-model.js';
import { serviceDatabase, ServiceProcess } from './support/service-process.js';
import { allEnded } from './support/trial.js';
import { aTurn } from './support/turns.js';

const LONG = ['one', 'two', 'three', 'four', 'five'];

describe('a service that is killed while a skill is drafted', () => {
  let model: ScriptedModel;
  let database: Awaited<ReturnType<typeof serviceDatabase>>;
  let service: ServiceProcess;
  let drafts = 0;

  const start = (): Promise<ServiceProcess> =>
    ServiceProcess.start({ ...database.env, ANTHROPIC_API_KEY: 'test', ANTHROPIC_BASE_URL: model.anthropicUrl });

  const draft = (): string => {
    drafts += 1;
    const body = Array.from({ length: 30 }, (_, word) => `draft${drafts}word${word}`).join(' ');
    return JSON.stringify({ name: `draft-${drafts}`, description: `Draft ${drafts}.`, body });
  };

  beforeAll(async () => {
    await resetDatabase();
    model = await ScriptedModel.start();
    database = await serviceDatabase();
    service = await start();
  }, 120_000);

  afterAll(async () => {
    await service.end('SIGTERM');
    await model.close();
    await database.remove();
  });

  const skillsOf = (agent: string): Promise<SkillView[]> => service.all(`/agents/${agent}/skills`);
  const calls = (): number => model.requestsOf('skill_synthesizer').length;

  /** What a crash left behind: each skill with its marks, its verdict and its ledger row, or none of them. */
  async function expectNothingHalf(): Promise<void> {
    const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir = 'memory://' } = database.env;
    const { dataSource, stop } = await startDatabase({ databaseUrl, dataDir, entities });
    try {
      const query = (sql: string): Promise<unknown[]> => new Database(dataSource).query(sql);
      const unmarked = await query(
        `select skill.id from synthesized_skills skill cross join jsonb_array_elements_text(source_episode_ids) source
         left join episodes on episodes.id = source::uuid
         where consolidated_into_skill_id is distinct from skill.id or consolidated_at is null`,
      );
      const orphaned = await query(
        `select episodes.id from episodes left join synthesized_skills skill on skill.id = consolidated_into_skill_id
         where consolidated_into_skill_id is not null
           and (skill.id is null or not source_episode_ids ? episodes.id::text)`,
      );
      const unjudged = await query(
        `select skill.id from synthesized_skills skill left join skill_cluster_verdicts verdict on skill_id = skill.id
         where verdict is distinct from 'learned'`,
      );
      const unlisted = await query(
        `select skill.id, run.turn_id from (select * from synthesized_skills where trigger = 'single_turn') skill
         full join (select * from reflection_runs where worker = 'skill_synthesizer' and status = 'done') run
           on (skill.source_turn_ids ->> 0)::uuid = run.turn_id
         where skill.id is null or run.turn_id is null`,
      );
      expect({ unmarked, orphaned, unjudged, unlisted }).toEqual({
        unmarked: [],
        orphaned: [],
        unjudged: [],
        unlisted: [],
      });
    } finally {
      await stop();
    }
  }

  async function crash(): Promise<void> {
    await service.end('SIGKILL');
    await expectNothingHalf();
    service = await start();
  }

  it('takes up the single turn again and learns it once', async () => {
    model.reply('skill_synthesizer', { delayMs: Infinity });
    const turn = aTurn({ agent: 'single', tool_sequence: LONG });
    await service.post('/turns', turn);
    await eventually(calls, (asked) => asked === 1);
    model.reply('skill_synthesizer', draft);
    await crash();
    await allEnded(service, [turn]);
    expect(await skillsOf('single')).toMatchObject([{ version: 1, tool_sequence: LONG }]);
    expect(calls()).toBe(2);
  }, 120_000);

  it('takes up the clusters again without being asked, and leaves alone what was learned before', async () => {
    const agent = 'clustered';
    const turns = [
      ['a', 'b'],
      ['c', 'd'],
    ].flatMap((tools, index) => Array.from({ length: 4 - index }, () => aTurn({ agent, tool_sequence: tools })));
    await service.post('/turns/batch', { turns, reflect: false });
    const before = calls();
    model.reply('skill_synthesizer', ({ user }) => (user.includes('a\nb') ? draft() : { delayMs: Infinity }));
    await service.post('/jobs/cluster-skills', {});
    await eventually(calls, (asked) => asked === before + 2);
    model.reply('skill_synthesizer', draft);
    await crash();
    for (const deadline = Date.now() + 60_000; ; await sleep(100)) {
      if ((await skillsOf(agent)).length === 2) break;
      if (Date.now() > deadline) throw new Error('the second cluster was not taken up again');
    }
    expect((await skillsOf(agent)).map(({ tool_sequence }) => tool_sequence.join()).sort()).toEqual(['a,b', 'c,d']);
    expect(calls()).toBe(before + 3);
  }, 120_000);

  it('leaves nothing half, whenever it is killed', async () => {
    model.reply('skill_synthesizer', draft);
    const turns = Array.from({ length: 24 }, (_, index) =>
      aTurn({ agent: `any-${index % 6}`, tool_sequence: LONG.map((tool) => `${tool}-${index}`) }),
    );
    await service.post('/turns/batch', { turns });
    for (const moment of [30, 90, 170]) {
      await sleep(moment);
      await crash();
    }
    await allEnded(service, turns);
    await service.end('SIGTERM');
    await expectNothingHalf();
    service = await start();
    for (let index = 0; index < 6; index++) expect(await skillsOf(`any-${index}`)).toHaveLength(4);
  }, 240_000);
});
