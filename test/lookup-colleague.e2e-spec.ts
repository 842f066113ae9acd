import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startApp, type TestApp } from './support/app.js';
import { callTool, type ToolAnswer } from './support/requests.js';
import { ScriptedModel } from './support/scripted-model.js';
import { aMessage, aTurn } from './support/turns.js';

let test: TestApp;
let model: ScriptedModel;

beforeAll(async () => {
  model = await ScriptedModel.start();
  test = await startApp({
    model,
    config: {
      learning: { reflect: { persist_decider: false } },
      organization: {
        name: 'default',
        roles: [{ name: 'support' }, { name: 'ops' }],
        units: [{ name: 'Platform', lead: 'bob' }],
        agents: [
          { handle: 'support-1', role: 'support', unit: 'Platform' },
          { handle: 'support-2', role: 'support' },
          { handle: 'ops-1', role: 'ops' },
        ],
        people: [
          { handle: 'bob', display_name: 'Bob Roe', identities: [{ platform: 'slack', external_id: 'U1' }] },
          { handle: 'bobby', display_name: 'Bobby Tables', identities: [] },
        ],
      },
    },
  });
  await meet('support-1', 'from slack', { external_id: 'U1', display_name: 'Bob' });
  await meet('support-1', 'from a2a', { platform: 'a2a', external_id: null, handle: 'ops-1', display_name: null });
  await meet('support-1', 'from mail', {
    platform: 'email',
    external_id: 'carol@example.com',
    display_name: 'Carol Quartz',
  });
  await meet('support-1', 'of another', { external_id: 'U9', handle: 'bob', display_name: 'Robert' });
  await meet('support-1', 'of myself', { platform: 'a2a', external_id: null, handle: 'support-1', display_name: null });
  await meet('support-2', 'SECRET OF TWO', { external_id: 'U1', display_name: 'Bob' });
  await meet('support-2', 'SECRET OF TWO', {
    platform: 'email',
    external_id: 'dora@example.com',
    display_name: 'Dora Opal',
  });
});

afterAll(async () => {
  await test.close();
  await model.close();
});

async function meet(agent: string, note: string, sender: Record<string, unknown>): Promise<void> {
  model.reply('counterparty_profiler', JSON.stringify({ traits: [{ key: 'notes', values: [note] }] }));
  const turn = aTurn({ agent, role: 'support', interactions: [aMessage(sender)] });
  await test.http.post('/turns').send(turn).expect(202);
  await test.reflected(turn.turn_id);
}

const lookUp = (query: unknown, agent = 'support-1', phase = 'plan'): Promise<ToolAnswer> =>
  callTool(test.http, agent, 'lookup_colleague', { query }, { phase });

describe('lookup_colleague', () => {
  it('is offered while planning and executing', async () => {
    const { body } = await test.http.get('/agents/support-1/tools').expect(200);
    const tool = (body as { items: { name: string }[] }).items.find(({ name }) => name === 'lookup_colleague');
    expect(tool).toMatchObject({
      phases: ['plan', 'execute'],
      input_schema: { type: 'object', required: ['query'], additionalProperties: false },
    });
    expect((await lookUp('bobby', 'support-1', 'execute')).is_error).toBe(false);
    expect((await lookUp('bobby', 'support-1', 'review')).is_error).toBe(true);
  });

  it.each([['slack:U1'], ['U1'], ['Bob Roe'], ['bob roe']])(
    'finds a person of the organisation by %s, with what was noted under the external id',
    async (query) => {
      const { output, is_error: isError, data } = await lookUp(query);
      expect(isError).toBe(false);
      expect(output).toContain('Bob Roe (person of the organisation, handle bob, leads Platform, slack:U1)');
      expect(output).toContain('- notes: from slack');
      expect(output).not.toContain('of another');
      expect(data).toMatchObject({
        status: 'found',
        colleague: { kind: 'person', handle: 'bob', leads: ['Platform'] },
        observed: [{ subject_external_id: 'U1', traits: { notes: [{ value: 'from slack' }] } }],
      });
    },
  );

  it('finds an agent by its handle, with what was noted under it on another platform', async () => {
    const { output, data } = await lookUp('@ops-1');
    expect(output).toContain('ops-1 (agent of the organisation, handle ops-1, role ops)');
    expect(output).toContain('- notes: from a2a');
    expect(data).toMatchObject({ status: 'found', colleague: { kind: 'agent', role: 'ops' } });
  });

  it.each([['carol@example.com'], ['Carol Quartz'], ['carol'], ['karol quarz']])(
    'finds an outside person that the agent knows by %s',
    async (query) => {
      const { output, data } = await lookUp(query);
      expect(output).toContain('Carol Quartz (outside person');
      expect(output).toContain('- notes: from mail');
      expect(data).toMatchObject({ status: 'found', colleague: { kind: 'outside' } });
    },
  );

  it('lists candidates where several may be meant, and tells nothing noted about them', async () => {
    const { output, data } = await lookUp('bob');
    expect(data).toMatchObject({
      status: 'ambiguous',
      candidates: [
        { kind: 'person', handle: 'bob' },
        { kind: 'outside', handle: 'bob', name: 'Robert' },
      ],
    });
    expect(output).toContain('1. Bob Roe');
    expect(output).not.toMatch(/from slack|of another/);
  });

  it('tells nothing of the agent itself', async () => {
    const { output, data } = await lookUp('support-1');
    expect(output).toContain('That is you.');
    expect(output).not.toContain('of myself');
    expect(data).toEqual({ status: 'self', colleague: expect.anything(), observed: [] });
  });

  it('tells nothing that another agent noted, and knows nobody whom only another met', async () => {
    expect((await lookUp('slack:U1', 'support-2')).output).toContain('SECRET OF TWO');
    for (const query of ['slack:U1', 'bob', 'Dora Opal', 'dora@example.com', 'opal']) {
      expect(JSON.stringify(await lookUp(query))).not.toMatch(/SECRET|Dora/);
    }
    expect((await lookUp('bob', 'ops-1')).data).toMatchObject({ status: 'found', observed: [] });
  });

  it.each(['', ' ', 3, null, ['bob'], { $ne: 1 }])(
    'answers a wrong query, %j, so that a model can mend it',
    async (query) => {
      expect(await lookUp(query)).toMatchObject({ is_error: true, output: expect.stringContaining('query') });
    },
  );

  it.each(['%', '_', "'; drop table agents", 'x'.repeat(100_000), '\u0000\ud800', '\u{1F98A}'])(
    'finds nobody by %#',
    async (query) => {
      expect(await lookUp(query)).toMatchObject({ is_error: false, data: { status: 'none' } });
    },
  );
});

describe('the known counterparty', () => {
  async function block(
    agent: string,
    interactions: unknown[],
  ): Promise<{ text: string; reason: string; selection_count: number }> {
    const request = { turn_id: randomUUID(), role: 'support', task_description: 'x', interactions };
    const { body } = await test.http.post(`/agents/${agent}/plan-context`).send(request).expect(200);
    const again = await test.http.post(`/agents/${agent}/plan-context`).send(request).expect(200);
    expect(again.body).toEqual(body);
    return (body as { blocks: { key: string; text: string; reason: string; selection_count: number }[] }).blocks.find(
      ({ key }) => key === 'counterparty',
    )!;
  }

  it('is shown for each sender who is known, attributed, also where the trigger is thin', async () => {
    const thin = { requires_recon: true, body: '+1' };
    const {
      text,
      reason,
      selection_count: count,
    } = await block('support-1', [
      aMessage({ platform: 'email', external_id: 'carol@example.com', ...thin }),
      aMessage({ external_id: 'U1', ...thin }),
      aMessage({ external_id: 'U1', ...thin }),
      aMessage({ external_id: 'nobody', ...thin }),
    ]);
    expect([reason, count]).toEqual(['selected', 2]);
    expect(text.split('\n\n').slice(1)).toEqual([
      expect.stringMatching(
        /^Subject: Carol Quartz \(email:carol@example.com\)\nPlatform: email\nObserved by you \(1 interaction, last change \d{4}-\d\d-\d\d UTC\):\n- notes: from mail$/,
      ),
      expect.stringMatching(/^Subject: Bob \(slack:U1\)\nPlatform: slack\n[^\n]*\n- notes: from slack$/),
    ]);
    expect(text).toMatch(/^What you noted yourself .* not instructions\./);
  });

  it.each([
    ['not_applicable', []],
    ['not_applicable', [aMessage({ external_id: null })]],
    ['nothing_stored', [aMessage({ external_id: 'stranger' })]],
  ])('is empty, %s', async (reason, interactions) => {
    expect(await block('support-1', interactions)).toMatchObject({ text: '', reason, selection_count: 0 });
  });

  it('is the agent’s own', async () => {
    expect((await block('support-2', [aMessage({ external_id: 'U1' })])).text).toContain('SECRET OF TWO');
    expect((await block('support-1', [aMessage({ external_id: 'U1' })])).text).not.toContain('SECRET OF TWO');
    expect(await block('ops-1', [aMessage({ external_id: 'U1' })])).toMatchObject({ reason: 'nothing_stored' });
  });

  it('is clipped: long traits to their line, many senders to the block', async () => {
    const people = Array.from({ length: 9 }, (_, n) =>
      aMessage({ platform: 'forum', external_id: `F${n}`, display_name: `Forum ${n}` }),
    );
    const long = Array.from({ length: 16 }, (_, n) => ({
      key: `topics_${n}`,
      values: Array.from({ length: 20 }, (__, m) => `${m} ${'\u{1F98A}'.repeat(90)}`),
    }));
    model.reply('counterparty_profiler', JSON.stringify({ traits: long }));
    const turn = aTurn({ agent: 'ops-1', role: 'ops', interactions: people });
    await test.http.post('/turns').send(turn).expect(202);
    await test.reflected(turn.turn_id);
    const { text, selection_count: count } = await block('ops-1', people);
    expect(text.length).toBeLessThan(6_200);
    expect(text.isWellFormed()).toBe(true);
    expect(text).toContain('more, lookup_colleague shows them');
    expect(text).toContain(`${9 - count} more senders are known to you`);
    expect((await lookUp('Forum 7', 'ops-1')).output.match(/^- topics/gm)!.length).toBeGreaterThan(10);
  });
});

describe('an agent that knows ten thousand people', () => {
  const agent = 'crowd-1';

  beforeAll(async () => {
    await test.http
      .post('/turns')
      .send(aTurn({ agent, role: 'ops', interactions: [] }))
      .expect(202);
    const { body } = await test.http.get('/agents?limit=200').expect(200);
    const { id } = (body as { items: { id: string; handle: string }[] }).items.find(({ handle }) => handle === agent)!;
    const own = `select org_id, id, $2::timestamptz as at from agents where id = $1`;
    const made = [id, new Date()];
    await test.database.query(
      `insert into counterparty_profiles (id, org_id, agent_id, subject_platform, subject_external_id, subject_handle,
         subject_name, name_source, traits, interaction_count, first_seen_at, last_updated_at, search, search_length, created_at)
       select md5(n::text)::uuid, org_id, id, 'forum', 'C' || n, '', 'Member ' || n, 'turn', '{}', 1, at, at, '', 0, at
       from generate_series(1, 10000) n, (${own}) own`,
      made,
    );
    await test.database.query(
      `insert into counterparty_identities (org_id, agent_id, identity_key, profile_id, platform, kind, value, seen_at)
       select org_id, id, md5(n::text), md5(n::text)::uuid, 'forum', 'external_id', 'C' || n, at
       from generate_series(1, 10000) n, (${own}) own`,
      made,
    );
  });

  // Takes minutes where the names are read anew for each of them.
  it.each([
    ['forum:C9876', 'Member 9876 (outside person, forum:C9876)'],
    ['member 77', 'Member 77 (outside person, forum:C77)'],
    ['Mebmer 12', 'Several may be meant'],
  ])('finds %s at once', async (query, expected) => {
    expect((await lookUp(query, agent)).output).toContain(expected);
  });
});
