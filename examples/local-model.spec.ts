import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import { fence, numbered } from '../src/core/auxiliary/fence.js';
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
