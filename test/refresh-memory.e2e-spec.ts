import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startApp, type TestApp } from './support/app.js';
import {
  aPlanRequest,
  callTool,
  eventually,
  memoriesOf,
  register,
  remember,
  type ToolAnswer,
} from './support/requests.js';
import { ScriptedModel } from './support/scripted-model.js';
import { aMessage } from './support/turns.js';

let test: TestApp;
let model: ScriptedModel;
let count = 0;

beforeAll(async () => {
  model = await ScriptedModel.start();
  const provider = (name: string): object => ({ kind: 'anthropic', model: name, max_retries: 0 });
  test = await startApp({
    model,
    config: {
      llm: { providers: { default: provider('default'), failing: provider('failing') } },
      organization: { name: 'default', roles: [{ name: 'failing', llm_auxiliary: 'failing' }] },
    },
  });
});

afterEach(() => model.reset());

afterAll(async () => {
  await test.close();
  await model.close();
});

/** An agent with three memories, and a turn of it. */
async function setUp(role = 'support'): Promise<{ agent: string; turn_id: string }> {
  const agent = `agent-${(count += 1)}`;
  await register(test.http, agent, role);
  for (const name of ['Alice', 'Bob', 'Carol']) await remember(test.http, agent, `${name} likes tea.`);
  return { agent, turn_id: randomUUID() };
}

const refresh = (agent: string, turn_id: string, context_hint: string): Promise<ToolAnswer> =>
  callTool(test.http, agent, 'refresh_memory', { context_hint }, { turn_id });

/** Has the filter choose the memories that name somebody. */
function choose(...names: string[]): void {
  model.reply('memory_filter', ({ user }) => {
    const numbers = names.map((name) => Number(new RegExp(`^(\\d+)\\. ${name}`, 'm').exec(user)![1]));
    return JSON.stringify(numbers);
  });
}

const retrievalsOf = async (agent: string): Promise<Record<string, number>> =>
  Object.fromEntries(
    (await memoriesOf(test.http, agent)).map(({ content, retrieval_count }) => [
      content.split(' ')[0],
      retrieval_count,
    ]),
  );

describe('refresh_memory', () => {
  it('chooses again with what was found out, and counts what it shows', async () => {
    const { agent, turn_id } = await setUp();
    choose('Bob', 'Alice');
    const memories = await memoriesOf(test.http, agent);
    const idOf = (name: string): string => memories.find(({ content }) => content.startsWith(name))!.id;
    const answer = await refresh(agent, turn_id, 'The thread is about Bob.');
    expect(answer).toEqual({
      output: expect.stringMatching(/^[^\n]+\n- Bob likes tea\.\n- Alice likes tea\.$/),
      is_error: false,
      data: { selection_count: 2, selected: [idOf('Bob'), idOf('Alice')] },
    });
    expect(await retrievalsOf(agent)).toEqual({ Alice: 1, Bob: 1, Carol: 0 });
  });

  it('puts the hint first, then senders and task of the stored context', async () => {
    const { agent, turn_id } = await setUp();
    const interactions = [aMessage({ body: 'See POC-518.', requires_recon: true })];
    const context = aPlanRequest({ turn_id, task_description: '## Triage', interactions });
    await test.http.post(`/agents/${agent}/plan-context`).send(context).expect(200);
    expect(model.requests).toHaveLength(0);
    await refresh(agent, turn_id, 'It is about the tea of Bob.');
    const { user, system } = model.requestsOf('memory_filter')[0]!;
    const order = [
      'It is about the tea of Bob.',
      'Current sender: Alice (slack:U42)',
      'See POC-518.',
      'Memories:\n<memories-',
    ];
    expect(order.map((text) => user.indexOf(text))).toEqual(
      order.map((text) => user.indexOf(text)).sort((a, b) => a - b),
    );
    for (const text of order) expect(user).toContain(text);
    expect(user).not.toContain('Triage');
    expect(system).not.toContain('tea of Bob');
  });

  it('works with the hint alone where no context is stored', async () => {
    const { agent, turn_id } = await setUp();
    choose('Carol');
    expect((await refresh(agent, turn_id, 'Carol called.')).output).toContain('- Carol likes tea.');
    const { user } = model.requestsOf('memory_filter')[0]!;
    expect(user).not.toMatch(/Current sender|Task:/);
  });

  it('answers an equal hint, case and space aside, with what it said, without a call', async () => {
    const { agent, turn_id } = await setUp();
    choose('Bob');
    const first = await refresh(agent, turn_id, 'The thread is about Bob.');
    choose('Alice');
    for (const again of ['The thread is about Bob.', '  the THREAD\n is\tabout bob. ']) {
      expect(await refresh(agent, turn_id, again)).toEqual(first);
    }
    expect(model.requests).toHaveLength(1);
    expect(await retrievalsOf(agent)).toEqual({ Alice: 0, Bob: 1, Carol: 0 });
  });

  it('takes three different hints a turn; the next is an error, an earlier one is not', async () => {
    const { agent, turn_id } = await setUp();
    choose('Bob');
    const first = await refresh(agent, turn_id, 'hint 1');
    await refresh(agent, turn_id, 'hint 2');
    await refresh(agent, turn_id, 'hint 3');
    expect(await refresh(agent, turn_id, 'hint 4')).toEqual({
      output: expect.stringMatching(/cap reached \(3/),
      is_error: true,
      data: { cap: 3 },
    });
    expect(await refresh(agent, turn_id, 'HINT 1')).toEqual(first);
    expect(model.requests).toHaveLength(3);
    expect((await refresh(agent, randomUUID(), 'hint 4')).is_error).toBe(false);
  });

  it('takes three of eight different hints that come at once', async () => {
    const { agent, turn_id } = await setUp();
    choose('Bob');
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => refresh(agent, turn_id, `hint ${index}`)),
    );
    expect(answers.filter(({ is_error }) => !is_error)).toHaveLength(3);
    expect(model.requests).toHaveLength(3);
    expect(await retrievalsOf(agent)).toEqual({ Alice: 0, Bob: 3, Carol: 0 });
  });

  it('gives one answer to eight equal hints that come at once', async () => {
    const { agent, turn_id } = await setUp();
    const names = ['Alice', 'Bob', 'Carol'];
    model.reply('memory_filter', ({ user }) => {
      names.push(names.shift()!);
      return `[${/^(\d+)\. /m.exec(user.slice(user.indexOf(`. ${names[0]}`) - 1))![1]}]`;
    });
    const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(agent, turn_id, 'the same')));
    expect(new Set(answers.map(({ output }) => output)).size).toBe(1);
    expect(model.requests).toHaveLength(1);
    expect(Object.values(await retrievalsOf(agent)).reduce((sum, retrievals) => sum + retrievals, 0)).toBe(1);
    expect((await refresh(agent, turn_id, 'hint 2')).is_error).toBe(false);
    expect((await refresh(agent, turn_id, 'hint 3')).is_error).toBe(false);
    expect((await refresh(agent, turn_id, 'hint 4')).is_error).toBe(true);
  });

  it('is the same bytes fresh, waited for and repeated', async () => {
    const { agent, turn_id } = await setUp();
    const arguments_ = { context_hint: 'The thread is about Bob and Alice.' };
    const raw = async (): Promise<string> => {
      const call = { turn_id, phase: 'plan', arguments: arguments_ };
      return (await test.http.post(`/agents/${agent}/tools/refresh_memory`).send(call).expect(200)).text;
    };
    choose('Bob', 'Alice');
    const answers = await Promise.all([raw(), raw()]);
    answers.push(await raw());
    expect(new Set(answers).size).toBe(1);
    expect(model.requests).toHaveLength(1);
  });

  it('under way counts against the cap, and one that fails gives its place back', async () => {
    const { agent, turn_id } = await setUp();
    let answerNow = (): void => undefined;
    const wait = new Promise<void>((resolve) => (answerNow = resolve));
    model.reply('memory_filter', async () => {
      await wait;
      return 'nothing that could be used';
    });
    const slow = ['hint 1', 'hint 2', 'hint 3'].map((hint) => refresh(agent, turn_id, hint));
    await eventually(
      () => model.requests.length,
      (requests) => requests === 3,
    );
    expect(await refresh(agent, turn_id, 'hint 4')).toMatchObject({ is_error: true, data: { cap: 3 } });
    answerNow();
    for (const answer of await Promise.all(slow)) expect(answer.data).toEqual({ reason: 'filter_failed' });
    choose('Bob');
    expect((await refresh(agent, turn_id, 'hint 4')).is_error).toBe(false);
  });

  it('whose lease has ended may be tried again, and does not count meanwhile', async () => {
    const { agent, turn_id } = await setUp();
    model.reply('memory_filter', { delayMs: Number.POSITIVE_INFINITY });
    const lost = ['hint 1', 'hint 2', 'hint 3'].map((hint) => refresh(agent, turn_id, hint));
    for (const answer of lost) answer.catch(() => undefined);
    await eventually(
      () => model.requests.length,
      (requests) => requests === 3,
    );
    // as if the service had died two minutes ago
    await test.database.query(
      `update memory_refreshes set lease_until = now() - interval '1 second' where output is null`,
    );
    choose('Bob');
    const first = await refresh(agent, turn_id, 'hint 1');
    expect(first).toMatchObject({ is_error: false, data: { selection_count: 1 } });
    for (const hint of ['hint 4', 'hint 5']) expect((await refresh(agent, turn_id, hint)).is_error).toBe(false);
    expect((await refresh(agent, turn_id, 'hint 2')).is_error).toBe(true);
    expect(await refresh(agent, turn_id, 'hint 1')).toEqual(first);
  });

  it('keeps turns and agents apart', async () => {
    const [one, two] = [await setUp(), await setUp()];
    choose('Bob');
    const first = await refresh(one.agent, one.turn_id, 'hint');
    choose('Alice');
    expect((await refresh(one.agent, two.turn_id, 'hint')).output).toContain('Alice');
    expect((await refresh(two.agent, one.turn_id, 'hint')).output).toContain('Alice');
    expect(await refresh(one.agent, one.turn_id, 'hint')).toEqual(first);
    expect(model.requests).toHaveLength(3);
  });

  it.each([
    ['filter_failed', 'support', 'the first one, I think'],
    ['filter_failed', 'support', 'NOOP'],
    ['model_unavailable', 'failing', { status: 529 }],
  ])('that ends with %s in role %s (%j) is neither kept nor counted', async (reason, role, reply) => {
    const { agent, turn_id } = await setUp(role);
    for (let index = 0; index < 4; index++) {
      model.reply('memory_filter', index < 3 ? reply : '[]');
      const answer = await refresh(agent, turn_id, 'hint');
      if (index < 3) expect(answer).toEqual({ output: expect.stringMatching(/./), is_error: true, data: { reason } });
      else expect(answer).toMatchObject({ is_error: false });
    }
    choose('Bob');
    for (const hint of ['hint 2', 'hint 3']) expect((await refresh(agent, turn_id, hint)).is_error).toBe(false);
    expect((await refresh(agent, turn_id, 'hint 4')).is_error).toBe(true);
    expect(await retrievalsOf(agent)).toEqual({ Alice: 0, Bob: 2, Carol: 0 });
  });

  it('hints at another try where nothing is chosen, which counts', async () => {
    const { agent, turn_id } = await setUp();
    model.reply('memory_filter', '[]');
    const answer = await refresh(agent, turn_id, 'hint');
    expect(answer).toEqual({
      output: expect.stringContaining('refresh_memory'),
      is_error: false,
      data: { selection_count: 0, selected: [] },
    });
    choose('Bob');
    expect(await refresh(agent, turn_id, 'hint')).toEqual(answer);
  });

  it('asks nobody where there is nothing, and neither keeps nor counts that', async () => {
    const agent = `agent-${(count += 1)}`;
    await register(test.http, agent);
    const turn_id = randomUUID();
    for (let index = 0; index < 5; index++) {
      expect(await refresh(agent, turn_id, `hint ${index}`)).toEqual({
        output: 'You have no relevant personal memories.',
        is_error: false,
        data: { selection_count: 0, selected: [] },
      });
    }
    expect(model.requests).toHaveLength(0);
    await remember(test.http, agent, 'Alice likes tea.');
    choose('Alice');
    expect((await refresh(agent, turn_id, 'hint 0')).output).toContain('Alice likes tea.');
  });

  it('leaves out what has expired', async () => {
    const { agent, turn_id } = await setUp();
    const ttl_until = new Date(Date.now() + 200).toISOString();
    await remember(test.http, agent, 'The freeze is on.', { kind: 'diary_short', ttl_until });
    await new Promise((resolve) => setTimeout(resolve, 210));
    await refresh(agent, turn_id, 'Is there a freeze?');
    expect(model.requests[0]!.user).not.toContain('The freeze is on.');
  });
});
