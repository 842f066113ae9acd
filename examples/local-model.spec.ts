import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import { fence, numbered } from '../src/core/auxiliary/fence.js';
import type { StoredTurn } from '../src/core/turn/extension-points.js';
import type { FinishedTurn, Interaction } from '../src/core/turn/turn.models.js';
import { counterpartyProfilerPrompt } from '../src/memories/counterparties/counterparty-profiler.prompt.js';
import type { ProfileView } from '../src/memories/counterparties/counterparty.models.js';
import type { Trajectory } from '../src/memories/episodes/episode-trajectories.js';
import type { RawEpisode } from '../src/memories/episodes/raw-episodes.js';
import { skillRefinerPrompt } from '../src/memories/skills/skill-refiner.prompt.js';
import type { SkillCandidate } from '../src/memories/skills/skill-synthesis.models.js';
import { skillSynthesizerPrompt } from '../src/memories/skills/skill-synthesizer.prompt.js';
import type { SiblingSkill } from '../src/processes/promotion/promotion.models.js';
import { promotionSynthesizerPrompt } from '../src/processes/promotion/promotion-synthesizer.prompt.js';
import type { SkillRow } from '../src/memories/skills/skill.models.js';
import { episodeCompactorAnswer, summaryOf } from '../src/processes/lifecycle/episode-compactor.answer.js';
import { episodeCompactorPrompt } from '../src/processes/lifecycle/episode-compactor.prompt.js';
import { estimatedTokens, type LocalModel, startLocalModel } from './local-model.js';

const ADA = fence('sender', 'Requester: Ada Lovelace (slack:U1)');

let model: LocalModel;
beforeAll(async () => {
  model = await startLocalModel();
});
afterAll(() => model.close());

async function ask(worker: string, user: string): Promise<string> {
  const client = new Anthropic({ apiKey: 'scripted-local-model', baseURL: model.url, maxRetries: 0 });
  const message = await client.messages.create(
    { model: 'claude-haiku-5-5', max_tokens: 1_000, system: 'Rules.', messages: [{ role: 'user', content: user }] },
    { headers: { 'x-learning-worker': worker } },
  );
  return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

async function status(body: string, init: RequestInit = {}, path = '/v1/messages'): Promise<number> {
  const headers = { 'content-type': 'application/json', 'x-learning-worker': 'persist_decider' };
  const response = await fetch(`${model.url}${path}`, { method: 'POST', headers, body, ...init });
  const answer = (await response.json()) as { type: string; error?: { message: string } };
  expect(answer).toMatchObject({ type: 'error', error: { message: expect.stringMatching(/\w/) } });
  return response.status;
}

describe('the scripted local model', () => {
  it('decides what to persist from the fenced message, the time and the known memories', async () => {
    const prompt = [
      'Time of the turn: 2026-11-27 (Friday) 16:20 UTC',
      `${ADA}\n${fence('message', 'Release freeze for checkout-api until December 4.')}`,
      `Plan:\n${fence('plan', '1. Hold the pipeline\n2. Answer')}`,
      'Outcome: done',
      `Known memories:\n${fence('memories', numbered(['Release freeze for checkout-api until November 30 (until 2026-11-30; told by Ada Lovelace).']))}`,
    ].join('\n\n');
    expect(JSON.parse(await ask('persist_decider', prompt))).toEqual({
      kind: 'SHORT',
      content: 'Release freeze for checkout-api until December 4 (until 2026-12-04; told by Ada Lovelace).',
      ttl_days: 8,
      supersedes: [1],
    });
  });

  it('takes the steps of a plan for no memories', async () => {
    const prompt = [
      'Time of the turn: 2026-11-27 (Friday) 16:20 UTC',
      `${ADA}\n${fence('message', 'I prefer bullet points.')}`,
      `Plan:\n${fence('plan', '1. Ada Lovelace prefers bullet points.')}`,
      'Known memories:\n(none)',
    ].join('\n\n');
    expect(JSON.parse(await ask('persist_decider', prompt))).toMatchObject({ kind: 'LONG' });
  });

  it('writes a knowledge query on one line, of the words that tell most', async () => {
    const prompt = `Task:\n${fence('task', 'Deploy checkout-api during the freeze, please.')}\n\nKnowledge-base search query:`;
    const query = await ask('relevant_knowledge_query', prompt);
    expect(query.split(' ')).toEqual(expect.arrayContaining(['checkout-api', 'freeze']));
    expect(query).not.toContain('\n');
    expect(await ask('relevant_knowledge_query', prompt.replace(/Deploy.*please\./, '+1'))).toBe('NOOP');
  });

  it('selects memories by number', async () => {
    const prompt = [
      fence('sender', 'Current sender: Ada Lovelace (slack:U1)\nCurrent sender: Bob (slack:U2)'),
      fence('task', 'Deploy checkout-api, please.'),
      fence(
        'memories',
        numbered([
          'The ledger export runs at six.',
          'Release freeze for checkout-api until December 4.',
          'Ada Lovelace prefers bullet points.',
          'Grace Hopper prefers bullet points.',
        ]),
      ),
    ].join('\n\n');
    expect((JSON.parse(await ask('memory_filter', prompt)) as { selected: number[] }).selected.sort()).toEqual([2, 3]);
  });

  it('summarises the episodes that bear on the task', async () => {
    const episodes = [
      {
        kind: 'raw',
        task: 'Deploy ledger 5.4',
        outcome: 'done',
        tool_sequence: ['run_pipeline'],
        ended_at: '2026-10-01T10:00:00Z',
      },
      { kind: 'compacted', pattern: 'Deploys of ledger', outcome: '4 of 5 done', tool_sequence: [], count: 5 },
      { kind: 'raw', task: 'Book a room', outcome: 'done', tool_sequence: [], ended_at: '2026-10-02T10:00:00Z' },
    ];
    const prompt = `New task:\n${fence('task', 'deploy ledger')}\n\nEarlier turns:\n${fence('episodes', JSON.stringify(episodes, null, 1))}`;
    expect(await ask('summarize_episodes', prompt)).toBe(
      '- done, 2026-10-01: Deploy ledger 5.4 (run_pipeline)\n- observed 5 times: Deploys of ledger',
    );
    expect(await ask('summarize_episodes', prompt.replace('deploy ledger', 'tea'))).toBe('NOOP');
  });

  it('sums up the turns of a cluster in a form that the service reads', async () => {
    const turns = ['5.4', '5.5', '5.6'].map((version, index): RawEpisode => {
      const at = new Date(Date.UTC(2026, 9, 1 + index));
      return {
        id: `episode-${index}`,
        turnId: null,
        conversationId: null,
        engaged: true,
        taskSummary: `Deploy label-service ${version}`,
        planSummary: '',
        toolSequence: ['run_pipeline', 'query_metrics'],
        skillsUsed: [],
        reviewOutcome: index === 0 ? 'failed' : 'done',
        startedAt: at,
        endedAt: at,
        durationMs: 0,
        sourceTurnIds: [],
        digest: '',
      };
    });
    const answer = episodeCompactorAnswer.parse(
      JSON.parse(await ask('episode_compactor', episodeCompactorPrompt(turns))),
    );
    expect(summaryOf(answer)).toEqual({
      commonTaskPattern: expect.stringMatching(/deploy.*label-service|label-service.*deploy/i),
      commonOutcome: '2 of 3 done',
      subjectsInvolved: ['label-service'],
      notablePatterns: expect.stringContaining('run_pipeline'),
    });
  });

  it('notes how a turn departed from its skill, from the prompt that the service sends', async () => {
    const turn = {
      review_outcome: 'done',
      failure_reason: null,
      task_description: '',
      plan: { summary: '1. run_pipeline' },
      tool_sequence: ['run_pipeline', 'post_slack_message'],
    };
    const skill = { name: 'deploy', description: 'When to deploy', content: '1. `run_pipeline`' };
    const prompt = (changes: object): string =>
      skillRefinerPrompt(
        { turn: { ...turn, ...changes }, salientText: 'deploy ledger 5.4' } as unknown as StoredTurn,
        skill as SkillRow,
      );
    expect(JSON.parse(await ask('skill_refiner', prompt({})))).toEqual({
      note: 'Also called post_slack_message for: deploy ledger 5.4',
    });
    expect(
      JSON.parse(await ask('skill_refiner', prompt({ review_outcome: 'failed', failure_reason: 'stall' }))),
    ).toEqual({
      note: 'Did not get to the end, last call post_slack_message: deploy ledger 5.4',
    });
    expect(await ask('skill_refiner', prompt({ tool_sequence: ['run_pipeline'] }))).toBe('NOOP');
  });

  it('drafts a skill from the prompt that the service sends, unless its name is taken', async () => {
    const turn = (index: number): Trajectory => ({
      id: `e${index}`,
      turnId: `t${index}`,
      startedAt: new Date('2026-11-27T16:20:00Z'),
      taskSummary: `deploy ledger 5.${index}`,
      planSummary: '1. Deploy\n2. Tell the channel',
      toolSequence: ['get_release', 'run_pipeline', 'post_slack_message'],
    });
    const members = [turn(1), turn(2), turn(3)];
    const candidate = { leader: turn(1), members } as unknown as SkillCandidate;
    const draft = JSON.parse(await ask('skill_synthesizer', skillSynthesizerPrompt(candidate, ['other']))) as object;
    expect(draft).toEqual({
      name: 'run-pipeline',
      description: 'How to run pipeline, as done for: deploy ledger 5.1',
      body: [
        '## When to use\n\nA request like this one: deploy ledger 5.1',
        '## Steps\n\n1. Call `get_release`.\n2. Call `run_pipeline`.\n3. Call `post_slack_message`.',
        'As it was planned:\n\n- Deploy\n- Tell the channel',
        '## Pitfalls\n\nNone seen.',
      ].join('\n\n'),
    });
    expect(await ask('skill_synthesizer', skillSynthesizerPrompt(candidate, ['run-pipeline']))).toBe('NOOP');
    const single = { ...candidate, members: [turn(1)] };
    expect(await ask('skill_synthesizer', skillSynthesizerPrompt(single, []))).toBe('NOOP');
  });

  it('drafts what siblings share from the prompt that the service sends', async () => {
    const sibling = (index: number): SiblingSkill => ({
      id: `s${index}`,
      agentId: `a${index}`,
      agentHandle: `bot-${index}`,
      name: 'deploy',
      description: `Deploy service ${index}`,
      content: '## Steps\n\n1. Deploy.',
      toolSequence: ['get_release', 'run_pipeline'],
      sourceTurnIds: [],
      live: true,
      operatorReleased: false,
    });
    const prompt = promotionSynthesizerPrompt([sibling(1), sibling(2), sibling(3)]);
    expect(JSON.parse(await ask('promotion_synthesizer', prompt))).toEqual({
      name: 'run-pipeline',
      description: 'How to run pipeline, as done for: Deploy service 1',
      body: [
        '## When to use\n\nA request like this one: Deploy service 1',
        '## Steps\n\n1. Call `get_release`.\n2. Call `run_pipeline`.',
        '## Pitfalls\n\nNone seen.',
      ].join('\n\n'),
    });
    expect(await ask('promotion_synthesizer', promotionSynthesizerPrompt([sibling(1), sibling(2)]))).toBe('NOOP');
  });

  it('profiles the one who speaks, and nobody whom the prompt knows or plans for', async () => {
    const promptFor = (body: string): string =>
      counterpartyProfilerPrompt({
        turn: {
          plan: { decision: 'plan', summary: '1. Bonjour, look at ledger-export' },
          ended_at: '2026-11-27T16:20:00Z',
          review_outcome: 'done',
        } as FinishedTurn,
        sender: {
          platform: 'slack',
          external_id: 'U1',
          handle: null,
          display_name: 'Ada Lovelace',
          body,
        } as Interaction,
        known: {
          traits: { topics: [{ value: 'label-service', count: 2, last_seen_at: 'x' }] },
        } as unknown as ProfileView,
      });
    const said = 'I prefer bullet points. Please deploy checkout-api.';
    expect(JSON.parse(await ask('counterparty_profiler', promptFor(said)))).toEqual({
      traits: [
        { key: 'stated_preferences', values: ['I prefer bullet points.'] },
        { key: 'topics', values: ['checkout-api'] },
      ],
    });
    expect(await ask('counterparty_profiler', promptFor('Thanks!'))).toBe('NOOP');
  });

  it('answers NOOP for a worker without rules', async () => {
    expect(await ask('some_worker', 'anything')).toBe('NOOP');
  });

  it('says what it is and reports its usage', async () => {
    const response = await fetch(`${model.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-learning-worker': 'persist_decider' },
      body: JSON.stringify({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'x'.repeat(400) }] }),
    });
    expect(await response.json()).toMatchObject({
      model: 'scripted-local-model',
      stop_reason: 'end_turn',
      usage: { input_tokens: 100, output_tokens: expect.any(Number) },
    });
    expect(await (await fetch(model.url)).text()).toContain('not an AI');
    expect(estimatedTokens('日本語abcd')).toBe(4);
  });

  it("refuses what Anthropic's API would refuse", async () => {
    const good = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] };
    expect(await status('{')).toBe(400);
    expect(await status('null')).toBe(400);
    expect(await status(JSON.stringify({ ...good, messages: [] }))).toBe(400);
    expect(await status(JSON.stringify({ ...good, max_tokens: 0 }))).toBe(400);
    expect(await status(JSON.stringify({ ...good, stream: true }))).toBe(400);
    expect(await status(JSON.stringify({ ...good, messages: [{ role: 'user', content: [{ type: 'image' }] }] }))).toBe(
      400,
    );
    expect(await status(JSON.stringify(good), { headers: {} })).toBe(400);
    expect(await status(JSON.stringify(good), {}, '/v1/complete')).toBe(404);
    expect(await status(JSON.stringify(good), { method: 'PUT' })).toBe(405);
  });
});
