import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { AuxiliaryUnavailable } from '../src/core/auxiliary/auxiliary.models.js';
import type { OrganizationDocument } from '../src/core/organization/organization.document.js';
import type { ReflectionWorker, WorkerResult } from '../src/core/turn/extension-points.js';
import { AgentDiary } from '../src/memories/diary/agent-diary.js';
import { Settings } from '../src/platform/config/settings.js';
import type { JobView } from '../src/platform/jobs/job.models.js';
import { ReflectEngine } from '../src/processes/reflection/reflect-engine.js';
import { ReflectionWorkers } from '../src/processes/reflection/reflection-workers.js';
import { startApp, type TestApp, type TurnAnswer } from './support/app.js';
import { eventsOf, eventually, memoriesOf } from './support/requests.js';
import { ScriptedModel, type ModelReply, type ModelRequest, type ModelScript } from './support/scripted-model.js';
import { aMessage, aTurn, type TurnBody } from './support/turns.js';

const LONG = '{"kind": "LONG", "content": "Alice prefers short answers."}';
const ROLES = 60;

/** Every role has a provider, and so a breaker, of its own; its scripts are told apart by the name of the model. */
const roleNames = Array.from({ length: ROLES }, (_, index) => `role-${index}`);
const providerOf = (role: string, more: object = {}): object => ({
  kind: 'anthropic',
  model: role,
  max_retries: 0,
  ...more,
});
const HASTY = 'hasty';
const STUBBORN = 'stubborn';

let test: TestApp;
let model: ScriptedModel;
const scripts = new Map<string, ModelScript>();
let roles = 0;

beforeAll(async () => {
  model = await ScriptedModel.start();
  model.reply('persist_decider', (request) => scripts.get(request.body.model as string)?.(request) ?? 'NOOP');
  test = await startApp({
    model,
    config: {
      learning: { reflect: { max_attempts: 3, retry_base_seconds: 0 } },
      llm: {
        providers: {
          ...Object.fromEntries(roleNames.map((role) => [role, providerOf(role)])),
          [HASTY]: providerOf(HASTY, { timeout_seconds: 0.2 }),
          [STUBBORN]: providerOf(STUBBORN, { max_retries: 2 }),
        },
      },
      organization: {
        name: 'default',
        roles: [...roleNames, HASTY, STUBBORN].map((name) => ({ name, llm_auxiliary: name })),
      },
    },
  });
  compose();
});

afterEach(() => compose());

afterAll(async () => {
  await test.close();
  await model.close();
});

let realWorkers: readonly ReflectionWorker[] | undefined;

/** Puts other workers in the place of the real one that these tests watch; without any it puts that back. */
function compose(...workers: ReflectionWorker[]): void {
  const composed = test.app.get(ReflectionWorkers);
  realWorkers ??= composed.inOrder.filter(({ name }) => name === 'persist_decider');
  Object.assign(composed, { inOrder: workers.length > 0 ? workers : realWorkers });
}

/** A role that no other test has, and an agent of it. */
function newRole(script: ModelScript | string | ModelReply = LONG): { role: string; agent: string } {
  const role = roleNames[roles++]!;
  answer(role, script);
  return { role, agent: `agent-of-${role}` };
}

function answer(role: string, script: ModelScript | string | ModelReply): void {
  scripts.set(role, typeof script === 'function' ? script : () => script);
}

const callsOf = (role: string): ModelRequest[] => model.requests.filter(({ body }) => body.model === role);

async function post(changes: Record<string, unknown>): Promise<TurnBody> {
  const turn = aTurn(changes);
  await test.http.post('/turns').send(turn).expect(202);
  return turn;
}

async function reflectionOf(turnId: string): Promise<TurnAnswer['reflection']> {
  const { body } = await test.http.get(`/turns/${turnId}`).expect(200);
  return (body as TurnAnswer).reflection;
}

async function ended(turn: TurnBody): Promise<TurnAnswer['reflection']> {
  return (await test.reflected(turn.turn_id)).reflection;
}

async function jobOf(turn: TurnBody): Promise<JobView | undefined> {
  const { body } = await test.http.get('/jobs?task=reflect-turn&limit=200').expect(200);
  return (body as { items: JobView[] }).items.find((job) => job.turn_id === turn.turn_id);
}

/** Waits until the turn's job has been put off, and has it run now. */
async function hasten(turn: TurnBody): Promise<void> {
  const job = await eventually(
    () => jobOf(turn),
    (found) => found?.status === 'retrying',
  );
  await test.database.query(
    `select from graphile_worker.reschedule_jobs(array[$1::bigint], run_at => now() - interval '1 second')`,
    [job!.id],
  );
}

/** Changes the organisation's document. */
async function configure(change: (document: OrganizationDocument) => void): Promise<void> {
  const document = (await test.http.get('/organization').expect(200)).body as OrganizationDocument;
  change(document);
  await test.http.put('/organization').send(document).expect(200);
}

const roleIn = (document: OrganizationDocument, name: string) => document.roles.find((role) => role.name === name)!;
const agentIn = (document: OrganizationDocument, handle: string) =>
  document.agents.find((agent) => agent.handle === handle)!;

/** A door that is shut until it is opened. */
function gate(): { passed: Promise<void>; open: () => void } {
  let open!: () => void;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

describe('the gates', () => {
  it('no_role: the role is gone', async () => {
    const door = gate();
    const { role, agent } = newRole(async () => {
      await door.passed;
      return 'NOOP';
    });
    const first = await post({ agent, role });
    const second = await post({ agent, role });
    await eventually(
      () => callsOf(role),
      (calls) => calls.length === 1,
    );
    await configure((document) => {
      document.roles = document.roles.filter(({ name }) => name !== role);
      document.agents = document.agents.filter(({ handle }) => handle !== agent);
    });
    door.open();
    expect(await ended(first)).toMatchObject({ status: 'done' });
    expect(await ended(second)).toEqual({ status: 'skipped', reason: 'no_role', workers: [] });
    expect(callsOf(role)).toHaveLength(1);
  });

  it('role_disabled: its turns are episodes and nothing more, until it is enabled again', async () => {
    const { role, agent } = newRole();
    await configure((document) => void (roleIn(document, role).learning_enabled = false));
    const turn = await post({ agent, role });
    expect(await ended(turn)).toEqual({ status: 'skipped', reason: 'role_disabled', workers: [] });
    const { body } = await test.http.get(`/agents/${agent}/episodes`).expect(200);
    expect(body).toMatchObject({ total: 1, items: [{ turn_id: turn.turn_id }] });
    expect(callsOf(role)).toHaveLength(0);
    await configure((document) => void (roleIn(document, role).learning_enabled = null));
    expect(await ended(await post({ agent, role }))).toMatchObject({ status: 'done' });
    expect(callsOf(role)).toHaveLength(1);
  });

  it.each([
    ['plan_skip', { plan: { decision: 'skip', summary: '(skip) not for me' } }],
    ['not_engaged', { tool_sequence: [], interactions: [] }],
    ['not_engaged', { tool_sequence: [], interactions: [aMessage({ body: null }), aMessage({ body: ' \n' })] }],
    ['not_engaged', { tool_sequence: [], interactions: [], review_outcome: 'failed' }],
  ])('%s: %j', async (reason, changes) => {
    const { role, agent } = newRole();
    const turn = await post({ agent, role, ...changes });
    expect(await ended(turn)).toEqual({ status: 'skipped', reason, workers: [] });
    expect(callsOf(role)).toHaveLength(0);
    expect(await jobOf(turn)).toBeUndefined();
  });

  it.each([
    ['a tool in the plan phase', { tool_sequence: [], interactions: [], plan_tool_sequence: ['query_episodes'] }],
    ['a tool alone', { interactions: [] }],
    ['a message alone', { tool_sequence: [], plan: { decision: 'direct', summary: '' } }],
  ])('are passed with %s', async (_, changes) => {
    const { role, agent } = newRole();
    expect(await ended(await post({ agent, role, ...changes }))).toMatchObject({ status: 'done' });
    expect(callsOf(role)).toHaveLength(1);
  });

  it('stand in order: disabled, skipped, not engaged, and only then the budget', async () => {
    const { role, agent } = newRole();
    await post({ agent, role });
    await configure((document) => {
      roleIn(document, role).learning_enabled = false;
      agentIn(document, agent).daily_token_budget = 0;
    });
    const skipped = { plan: { decision: 'skip', summary: '' } };
    const idle = { tool_sequence: [], interactions: [] };
    const reasonOf = async (changes: object): Promise<string | null> =>
      (await ended(await post({ agent, role, ...changes }))).reason;
    expect(await reasonOf({ ...skipped, ...idle })).toBe('role_disabled');
    await configure((document) => void (roleIn(document, role).learning_enabled = true));
    expect(await reasonOf({ ...skipped, ...idle })).toBe('plan_skip');
    expect(await reasonOf(idle)).toBe('not_engaged');
    const turn = await post({ agent, role });
    await eventually(
      () => reflectionOf(turn.turn_id),
      ({ status, reason }) => status === 'retrying' && reason === 'budget_exhausted',
    );
  });

  it.each(['agent', 'organisation'])(
    'the budget of the %s: the turn waits and goes on once it is raised',
    async (whose) => {
      const { role, agent } = newRole();
      await ended(await post({ agent, role }));
      const setBudget = (tokens: number | null): Promise<void> =>
        configure((document) => {
          if (whose === 'organisation') document.daily_token_budget = tokens;
          else agentIn(document, agent).daily_token_budget = tokens;
        });
      await setBudget(1);
      const turn = await post({ agent, role });
      const job = await eventually(
        () => jobOf(turn),
        (found) => found?.status === 'retrying',
      );
      expect(job).toMatchObject({ attempts: 0, last_error: 'budget_exhausted' });
      expect(Date.parse(job!.run_at)).toBeGreaterThan(Date.now() + 30_000);
      expect(await reflectionOf(turn.turn_id)).toEqual({ status: 'retrying', reason: 'budget_exhausted', workers: [] });
      expect(callsOf(role)).toHaveLength(1);
      await setBudget(null);
      await hasten(turn);
      expect(await ended(turn)).toMatchObject({ status: 'done', reason: null });
      expect(callsOf(role)).toHaveLength(2);
    },
  );

  it('the slot: the turn waits for one that is free, holds it meanwhile and gives it back', async () => {
    const door = gate();
    const { role, agent } = newRole(async () => {
      await door.passed;
      return LONG;
    });
    await configure((document) => void (roleIn(document, role).max_concurrent = 1));
    const { body } = await test.http.post(`/roles/${role}/slots`).expect(201);
    const turn = await post({ agent, role });
    const job = await eventually(
      () => jobOf(turn),
      (found) => found?.status === 'retrying',
    );
    expect(job).toMatchObject({ attempts: 0, last_error: 'slot' });
    expect(await reflectionOf(turn.turn_id)).toEqual({ status: 'retrying', reason: 'slot', workers: [] });
    expect(callsOf(role)).toHaveLength(0);
    await test.http.delete(`/slots/${(body as { slot_id: string }).slot_id}`).expect(204);
    await hasten(turn);
    await eventually(
      () => callsOf(role),
      (calls) => calls.length === 1,
    );
    expect(await reflectionOf(turn.turn_id)).toMatchObject({ status: 'running', reason: null });
    await test.http.post(`/roles/${role}/slots`).expect(429);
    door.open();
    expect(await ended(turn)).toMatchObject({ status: 'done' });
    await eventually(
      async () => (await test.http.post(`/roles/${role}/slots`)).status,
      (status) => status === 201,
    );
  });
});

describe('a provider that refuses', () => {
  it.each([400, 401, 402, 403, 404])(
    'with %d is called once; the job is dead until an operator retries it',
    async (status) => {
      const { role, agent } = newRole({ status });
      const turn = await post({ agent, role });
      const reflection = await ended(turn);
      expect(reflection).toEqual({
        status: 'dead',
        reason: 'refused',
        workers: [
          {
            worker: 'persist_decider',
            part: '',
            status: 'dead',
            reason: 'refused',
            attempts: 1,
            error: expect.stringContaining(String(status)),
          },
        ],
      });
      const job = await eventually(
        () => jobOf(turn),
        (found) => found?.status === 'dead',
      );
      expect(job).toMatchObject({
        task: 'reflect-turn',
        last_error: expect.stringContaining(`persist_decider: ${role}: ${status}`),
      });
      expect(callsOf(role)).toHaveLength(1);
      const { body } = await test.http.get(`/agents/${agent}/episodes`).expect(200);
      expect(body).toMatchObject({ total: 1 });

      answer(role, LONG);
      await test.http.post(`/jobs/${job!.id}/retry`).expect(202);
      expect(await ended(turn)).toMatchObject({
        status: 'done',
        reason: null,
        workers: [{ status: 'done', reason: null, attempts: 1, error: null }],
      });
      expect(callsOf(role)).toHaveLength(2);
      expect(await memoriesOf(test.http, agent)).toHaveLength(1);
      expect(await jobOf(turn)).toBeUndefined();
      await test.http.post(`/jobs/${job!.id}/retry`).expect(404);
    },
  );

  it('does not keep the agent’s next turn waiting', async () => {
    const { role, agent } = newRole({ status: 401 });
    const dead = await post({ agent, role });
    await ended(dead);
    answer(role, LONG);
    expect(await ended(await post({ agent, role }))).toMatchObject({ status: 'done' });
    expect(await reflectionOf(dead.turn_id)).toMatchObject({ status: 'dead' });
  });
});

describe('a provider that fails for a while', () => {
  it.each([429, 529, 500, 503, 408, 409])('with %d is asked again', async (status) => {
    const { role, agent } = newRole(() => (callsOf(role).length === 1 ? { status } : LONG));
    const turn = await post({ agent, role });
    expect(await ended(turn)).toMatchObject({
      status: 'done',
      reason: null,
      workers: [{ status: 'done', attempts: 2, error: null }],
    });
    expect(callsOf(role)).toHaveLength(2);
    expect(await memoriesOf(test.http, agent)).toHaveLength(1);
  });

  it('is asked again when it wants to be; the turn waits', async () => {
    const busy = { status: 429, headers: { 'retry-after-ms': '600' } };
    const { role, agent } = newRole(() => (callsOf(role).length === 1 ? busy : LONG));
    const turn = await post({ agent, role });
    const waiting = await eventually(
      () => reflectionOf(turn.turn_id),
      ({ status }) => status === 'retrying',
    );
    const worker = { worker: 'persist_decider', part: '', status: 'pending', reason: 'backoff', attempts: 1 };
    expect(waiting).toEqual({
      status: 'retrying',
      reason: 'backoff',
      workers: [{ ...worker, error: expect.stringContaining('429') }],
    });
    expect(await ended(turn)).toMatchObject({ status: 'done', workers: [{ status: 'done', attempts: 2 }] });
    const [first, second] = callsOf(role);
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(600);
  });

  it('by saying nothing is given up and asked again', async () => {
    answer(HASTY, () => (callsOf(HASTY).length === 1 ? { delayMs: Infinity } : LONG));
    const turn = await post({ agent: 'hasty-agent', role: HASTY });
    expect(await ended(turn)).toMatchObject({ status: 'done', workers: [{ status: 'done', attempts: 2 }] });
  });

  it('is retried by its own client first, which is one attempt', async () => {
    answer(STUBBORN, () => (callsOf(STUBBORN).length < 3 ? { status: 529, headers: { 'retry-after-ms': '1' } } : LONG));
    const turn = await post({ agent: 'stubborn-agent', role: STUBBORN });
    expect(await ended(turn)).toMatchObject({ status: 'done', workers: [{ status: 'done', attempts: 1 }] });
    expect(callsOf(STUBBORN)).toHaveLength(3);
  });

  it('for ever is asked as often as it may be, ever more slowly, then the job is dead', async () => {
    const { reflect } = test.app.get(Settings).learning;
    reflect.retry_base_seconds = 0.1;
    const { role, agent } = newRole({ status: 500 });
    const turn = await post({ agent, role });
    expect(await ended(turn)).toMatchObject({
      status: 'dead',
      reason: 'attempts_exhausted',
      workers: [{ status: 'dead', reason: 'attempts_exhausted', attempts: 3, error: expect.stringContaining('500') }],
    });
    const calls = callsOf(role).map(({ at }) => at);
    expect(calls).toHaveLength(3);
    expect(calls[1]! - calls[0]!).toBeGreaterThanOrEqual(100);
    expect(calls[2]! - calls[1]!).toBeGreaterThanOrEqual(200);
    reflect.retry_base_seconds = 0;
    const job = await eventually(
      () => jobOf(turn),
      (found) => found?.status === 'dead',
    );
    answer(role, () => (callsOf(role).length < 5 ? { status: 500 } : LONG));
    await test.http.post(`/jobs/${job!.id}/retry`).expect(202);
    expect(await ended(turn)).toMatchObject({ status: 'done', workers: [{ status: 'done', attempts: 2 }] });
  });

  it('five times in a row is left alone, which spends nobody’s attempts', async () => {
    const { role, agent } = newRole({ status: 500 });
    await ended(await post({ agent, role }));
    const turn = await post({ agent: `${agent}-2`, role });
    const reflection = await eventually(
      () => reflectionOf(turn.turn_id),
      ({ workers }) => workers[0]?.error?.includes('left alone') ?? false,
    );
    expect(reflection).toMatchObject({ workers: [{ status: 'pending', attempts: 2 }] });
    expect(callsOf(role)).toHaveLength(5);
    const job = await eventually(
      () => jobOf(turn),
      (found) => found?.status === 'retrying',
    );
    expect(Date.parse(job!.run_at)).toBeGreaterThan(Date.now() + 20_000);
  });
});

describe('the ledger', () => {
  const worker = (
    name: string,
    run: ReflectionWorker['run'],
    more: Partial<ReflectionWorker> = {},
  ): ReflectionWorker => ({
    name,
    skipReason: () => null,
    run,
    ...more,
  });
  const statuses = (reflection: TurnAnswer['reflection']): string[] =>
    reflection.workers
      .map(({ worker: name, part, status, attempts }) => `${name}/${part} ${status} ${attempts}`)
      .sort();
  const done = (apply?: WorkerResult['apply']): Promise<WorkerResult> => Promise.resolve({ outcome: 'done', apply });

  it('lets a turn that is delivered twice at once be learned from once', async () => {
    const door = gate();
    let answers = 0;
    const { role, agent } = newRole(async () => {
      await door.passed;
      return `{"kind": "LONG", "content": "Fact number ${(answers += 1)}."}`;
    });
    const [decided, completed] = [eventsOf(test, 'persist_decider.completed'), eventsOf(test, 'reflection.completed')];
    const turn = await post({ agent, role });
    const { org_id } = (
      await test.database.query<{ org_id: string }>(`select org_id from turns where turn_id = $1`, [turn.turn_id])
    )[0]!;
    const again = test.app.get(ReflectEngine).reflect(org_id, turn.turn_id, new AbortController().signal);
    await eventually(
      () => callsOf(role),
      (calls) => calls.length === 2,
    );
    door.open();
    expect(await again).toEqual({ status: 'done' });
    expect(await ended(turn)).toMatchObject({ status: 'done', workers: [{ status: 'done', attempts: 1 }] });
    await eventually(
      () => jobOf(turn),
      (job) => job === undefined,
    );
    expect(await memoriesOf(test.http, agent)).toHaveLength(1);
    expect(decided.filter(({ turn_id }) => turn_id === turn.turn_id)).toHaveLength(1);

    await test.app.get(ReflectEngine).reflect(org_id, turn.turn_id, new AbortController().signal);
    expect(callsOf(role)).toHaveLength(2);
    expect(completed.filter(({ turn_id }) => turn_id === turn.turn_id)).toHaveLength(1);
  });

  it('lets one that fails keep none of the others from running, and runs it alone again', async () => {
    const runs: string[] = [];
    compose(
      worker('first', async () => {
        runs.push('first');
        if (runs.filter((name) => name === 'first').length < 3) throw new Error('out of order');
        return done();
      }),
      worker('second', () => {
        runs.push('second');
        return done();
      }),
      worker('third', () => Promise.resolve({ outcome: 'failed', reason: 'unusable' })),
    );
    const { role, agent } = newRole();
    const turn = await post({ agent, role });
    expect(statuses(await ended(turn))).toEqual(['first/ done 3', 'second/ done 1', 'third/ failed 1']);
    expect(runs).toEqual(['first', 'second', 'first', 'first']);
  });

  it('ends one that always fails dead, after the others are done', async () => {
    compose(
      worker('first', () => Promise.reject(new Error('out of order'))),
      worker('second', () => done()),
    );
    const completed = eventsOf(test, 'reflection.completed');
    const { role, agent } = newRole();
    const turn = await post({ agent, role });
    const reflection = await ended(turn);
    expect(reflection).toMatchObject({ status: 'dead', reason: 'attempts_exhausted' });
    expect(statuses(reflection)).toEqual(['first/ dead 3', 'second/ done 1']);
    const job = await eventually(
      () => jobOf(turn),
      (found) => found?.status === 'dead',
    );
    expect(job!.last_error).toBe('first: out of order');
    expect(completed.filter(({ turn_id }) => turn_id === turn.turn_id)).toMatchObject([
      { payload: { workers_run: 1, review_outcome: 'done', status: 'dead', reason: 'attempts_exhausted' } },
    ]);
  });

  it('commits with what was written, or neither is there', async () => {
    const diary = test.app.get(AgentDiary);
    let applied = 0;
    compose(
      worker('writer', async (input) => {
        const draft = await diary.prepare({
          orgId: input.turn.orgId,
          agentId: input.turn.agent.id,
          kind: 'diary_long',
          content: `Written by try ${applied + 1}.`,
          ttlUntil: null,
          source: 'persist_decider',
          turnId: input.turn.turn.turn_id,
          conversationId: null,
          observedAt: new Date(),
          metadata: {},
        });
        return {
          outcome: 'done',
          apply: async () => {
            await diary.write(draft);
            if ((applied += 1) < 3) throw new Error('the connection broke');
          },
        };
      }),
    );
    const { role, agent } = newRole();
    const turn = await post({ agent, role });
    expect(statuses(await ended(turn))).toEqual(['writer/ done 3']);
    expect((await memoriesOf(test.http, agent)).map(({ content }) => content)).toEqual(['Written by try 3.']);
  });

  it('knows the parts of a worker, and counts the end of each once', async () => {
    const runs: string[] = [];
    const ends: string[] = [];
    compose(
      worker(
        'profiler',
        (_, part) => {
          runs.push(part);
          if (part === 'b' && runs.filter((name) => name === 'b').length < 2) throw new Error('out of order');
          return part === 'c' ? Promise.reject(new Error('never works')) : done();
        },
        {
          parts: () => ['a', 'b', 'c'],
          settle: (_, part, end) => {
            ends.push(`${part} ${end}`);
            return Promise.resolve();
          },
        },
      ),
    );
    const { role, agent } = newRole();
    const turn = await post({ agent, role });
    expect(statuses(await ended(turn))).toEqual(['profiler/a done 1', 'profiler/b done 2', 'profiler/c dead 3']);
    expect(runs).toEqual(['a', 'b', 'c', 'b', 'c', 'c']);
    expect(ends).toEqual(['a done', 'b done', 'c dead']);
  });

  it('runs the parts of a worker at the same time, ten at most, and each once', async () => {
    const parts = Array.from({ length: 25 }, (_, index) => `part-${index}`);
    const runs: string[] = [];
    let [open, most] = [0, 0];
    compose(
      worker(
        'profiler',
        async (_, part) => {
          runs.push(part);
          most = Math.max(most, (open += 1));
          await eventually(
            () => open,
            (count) => count === 10 || runs.length > 20,
          );
          await new Promise((resolve) => setTimeout(resolve, 30));
          open -= 1;
          return done();
        },
        { parts: () => parts },
      ),
    );
    const { role, agent } = newRole();
    const turn = await post({ agent, role });
    expect(statuses(await ended(turn)).sort()).toEqual(parts.map((part) => `profiler/${part} done 1`).sort());
    expect([runs, most]).toEqual([parts, 10]);
  });

  it('asks again whether a worker is wanted where that failed, and never once it has begun', async () => {
    const asked: string[] = [];
    const ends: string[] = [];
    const settle: ReflectionWorker['settle'] = (_, part, end) => {
      ends.push(`${part} ${end}`);
      return Promise.resolve();
    };
    let fickle = 0;
    compose(
      worker('unsure', () => done(), {
        skipReason: () => {
          asked.push('unsure');
          if (asked.length === 1) throw new Error('out of order');
          return null;
        },
        parts: () => ['a'],
      }),
      worker('fickle', () => done(), { skipReason: () => (fickle++ > 0 ? 'no_model' : null), settle }),
      worker(
        'half',
        (_, part) => (part === 'b' && asked.length < 2 ? Promise.reject(new Error('out of order')) : done()),
        { skipReason: () => (asked.length > 1 ? 'no_model' : null), parts: () => ['a', 'b'], settle },
      ),
    );
    const { role, agent } = newRole();
    const turn = await post({ agent, role });
    expect(statuses(await ended(turn))).toEqual([
      'fickle/ done 1',
      'half/a done 1',
      'half/b done 2',
      'unsure/a done 1',
    ]);
    expect(asked).toEqual(['unsure', 'unsure']);
    expect(fickle).toBe(1);
    expect(ends).toEqual([' done', 'a done', 'b done']);
  });

  it('counts a worker once whose check always fails, however often the others are tried', async () => {
    const ends: string[] = [];
    let tries = 0;
    compose(
      worker('broken', () => done(), {
        skipReason: () => {
          throw new Error('out of order');
        },
        settle: (_, part, end) => {
          ends.push(`${part} ${end}`);
          return Promise.resolve();
        },
      }),
      worker('slow', () => {
        const open = new AuxiliaryUnavailable('open', 'left alone', new Date(Date.now() + 50));
        return (tries += 1) < 6 ? Promise.reject(open) : done();
      }),
    );
    const { role, agent } = newRole();
    const turn = await post({ agent, role });
    expect(statuses(await ended(turn))).toEqual(['broken/ dead 3', 'slow/ done 1']);
    expect(ends).toEqual([' dead']);
    answer(role, LONG);
    compose(
      worker('broken', () => done()),
      worker('slow', () => done()),
    );
    const job = await eventually(
      () => jobOf(turn),
      (found) => found?.status === 'dead',
    );
    await test.http.post(`/jobs/${job!.id}/retry`).expect(202);
    expect(statuses(await ended(turn))).toEqual(['broken/ done 1', 'slow/ done 1']);
  });

  it('takes another end that is found out only while writing', async () => {
    compose(worker('namer', () => done(() => Promise.resolve({ outcome: 'noop', reason: 'name_taken' }))));
    const { role, agent } = newRole();
    const turn = await post({ agent, role });
    expect(await ended(turn)).toMatchObject({ status: 'done', workers: [{ status: 'noop', reason: 'name_taken' }] });
  });

  it('settles a part once, also where an operator has the dead one tried again', async () => {
    const ends: string[] = [];
    let refuses = true;
    compose(
      worker('counted', () => (refuses ? Promise.reject(new AuxiliaryUnavailable('refused', 'no')) : done()), {
        settle: (_, part, end) => {
          ends.push(`${part} ${end}`);
          return Promise.resolve();
        },
      }),
    );
    const { role, agent } = newRole();
    const turn = await post({ agent, role });
    expect(statuses(await ended(turn))).toEqual(['counted/ dead 1']);
    refuses = false;
    const job = await eventually(
      () => jobOf(turn),
      (found) => found?.status === 'dead',
    );
    await test.http.post(`/jobs/${job!.id}/retry`).expect(202);
    expect(statuses(await ended(turn))).toEqual(['counted/ done 1']);
    expect(ends).toEqual([' dead']);
  });

  describe('of a superseded turn', () => {
    it('keeps what was finished and asks the skipped ones again', async () => {
      const runs: string[] = [];
      const record = (name: string): Promise<WorkerResult> => {
        runs.push(name);
        return done();
      };
      const unlessUnfinished: Partial<ReflectionWorker> = {
        skipReason: ({ turn }) => (turn.turn.review_outcome === 'self_iterate' ? 'non_terminal' : null),
      };
      compose(
        worker('decider', () => record('decider'), unlessUnfinished),
        worker('profiler', (_, part) => record(`profiler ${part}`), {
          parts: ({ turn }) => turn.turn.interactions.map(({ external_id }) => external_id!),
        }),
      );
      const { role, agent } = newRole();
      const turn = await post({ agent, role, review_outcome: 'self_iterate' });
      expect(statuses(await ended(turn))).toEqual(['decider/ skipped 0', 'profiler/U42 done 1']);
      const interactions = [aMessage(), aMessage({ external_id: 'U7' })];
      await test.http
        .post('/turns')
        .send({ ...turn, review_outcome: 'done', interactions })
        .expect(202);
      expect(statuses(await ended(turn))).toEqual(['decider/ done 1', 'profiler/U42 done 1', 'profiler/U7 done 1']);
      expect(runs).toEqual(['profiler U42', 'decider', 'profiler U7']);
    });

    it.each(['done', 'broken'])('holds nothing of the body that was, whose worker is then %s', async (how) => {
      const door = gate();
      const started = gate();
      const wrote: string[] = [];
      compose(
        worker('writer', async ({ turn }) => {
          const outcome = turn.turn.review_outcome;
          if (outcome === 'self_iterate') {
            started.open();
            await door.passed;
            if (how === 'broken') throw new Error('out of order');
          }
          return { outcome: 'done', apply: () => Promise.resolve(void wrote.push(outcome)) };
        }),
      );
      const { role, agent } = newRole();
      const turn = await post({ agent, role, review_outcome: 'self_iterate' });
      await started.passed;
      await test.http
        .post('/turns')
        .send({ ...turn, review_outcome: 'done' })
        .expect(202);
      door.open();
      expect(statuses(await ended(turn))).toEqual(['writer/ done 1']);
      expect(wrote).toEqual(['done']);
      expect(await jobOf(turn)).toBeUndefined();
    });
  });
});

describe('the event reflection.completed', () => {
  it('says how each reflection ended, once', async () => {
    const seen = eventsOf(test, 'reflection.completed');
    const { role, agent } = newRole();
    const trace = { trace_id: '0af7651916cd43dd8448eb211c80319c', span_id: 'b7ad6b7169203331' };
    const good = aTurn({ agent, role });
    await test.http
      .post('/turns')
      .set('traceparent', `00-${trace.trace_id}-${trace.span_id}-01`)
      .send(good)
      .expect(202);
    await ended(good);
    const idle = await post({ agent, role, plan: { decision: 'skip', summary: '' } });
    await ended(idle);
    answer(role, { status: 401 });
    const refused = await post({ agent, role, review_outcome: 'failed' });
    await ended(refused);
    await eventually(
      () => seen,
      (events) => events.length === 3,
    );
    const envelope = { id: expect.any(String), type: 'reflection.completed', agent_handle: agent, role };
    expect(seen).toMatchObject([
      {
        ...envelope,
        ...trace,
        turn_id: good.turn_id,
        payload: { workers_run: 1, review_outcome: 'done', status: 'done', reason: null },
      },
      {
        ...envelope,
        turn_id: idle.turn_id,
        payload: { workers_run: 0, review_outcome: 'done', status: 'skipped', reason: 'plan_skip' },
      },
      {
        ...envelope,
        turn_id: refused.turn_id,
        payload: { workers_run: 0, review_outcome: 'failed', status: 'dead', reason: 'refused' },
      },
    ]);
  });
});

describe('a job', () => {
  it('of a dead turn is dead again however often it is run, so that an operator finds it', async () => {
    const { role, agent } = newRole({ status: 401 });
    const turn = await post({ agent, role });
    expect(await ended(turn)).toMatchObject({ status: 'dead' });
    const [{ org_id: orgId } = { org_id: '' }] = await test.database.query<{ org_id: string }>(
      `select org_id from turns where turn_id = $1`,
      [turn.turn_id],
    );
    const signal = new AbortController().signal;
    expect(await test.app.get(ReflectEngine).reflect(orgId, turn.turn_id, signal)).toMatchObject({ status: 'dead' });
  });

  it('for a turn that is gone is left alone', async () => {
    const engine = test.app.get(ReflectEngine);
    expect(await engine.reflect(randomUUID(), randomUUID(), new AbortController().signal)).toEqual({ status: 'done' });
  });
});
