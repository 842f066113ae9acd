import { existsSync, readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Response } from 'supertest';
import { startApp, type TestApp } from './support/app.js';
import { expectNoFault } from './support/problem.js';
import { aMessage, aTurn } from './support/turns.js';

/** From the Big List of Naughty Strings (MIT). */
const file = new URL('../../shared/data/naughty-strings/blns.json', import.meta.url);
const present = existsSync(file);
const naughty = present ? (JSON.parse(readFileSync(file, 'utf8')) as string[]) : [];
if (!present) console.warn('skipped: the list of naughty strings is not there');

(present ? describe : describe.skip)('the naughty strings', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startApp();
    await test.http
      .post('/turns')
      .send(aTurn({ agent: 'notes' }))
      .expect(202);
  });
  afterAll(() => test.close());

  /** Eight at a time. */
  async function each(ask: (text: string, index: number) => Promise<Response>): Promise<Response[]> {
    const answers: Response[] = [];
    for (let start = 0; start < naughty.length; start += 8) {
      const some = naughty.slice(start, start + 8);
      answers.push(...(await Promise.all(some.map((text, index) => ask(text, start + index)))));
    }
    for (const answer of answers) expectNoFault(answer);
    return answers;
  }

  it('are all there', () => {
    expect(naughty).toHaveLength(515);
  });

  it('as handle, role, ids and text of a turn are stored as they are, or refused by name', async () => {
    const turns = naughty.map((text) =>
      aTurn({
        agent: text,
        role: text || 'role',
        task_id: text,
        conversation_id: text,
        task_description: text,
        plan: { decision: 'plan', summary: text },
        tool_sequence: [text || 'tool'],
        trigger_event_ids: text ? [text] : [],
        interactions: [aMessage({ external_id: text, display_name: text, body: text })],
      }),
    );
    const statuses: string[] = [];
    for (const some of [turns.slice(0, 300), turns.slice(300)]) {
      const { body } = (await test.http.post('/turns/batch').send({ turns: some, reflect: false }).expect(200)) as {
        body: { items: { status: string; errors?: { path: string }[] }[] };
      };
      statuses.push(...body.items.map(({ status }) => status));
      for (const { status, errors } of body.items) {
        if (status === 'rejected') expect(errors?.length).toBeGreaterThan(0);
      }
    }
    expect(statuses.filter((status) => status === 'accepted').length).toBeGreaterThan(450);
    for (const [index, turn] of turns.entries()) {
      if (statuses[index] !== 'accepted' || index % 5 > 0) continue;
      const { body } = (await test.http.get(`/turns/${turn.turn_id}`).expect(200)) as { body: Record<string, unknown> };
      expect([body.agent, body.role, body.task_description]).toEqual([turn.agent, turn.role, turn.task_description]);
    }
  }, 60_000);

  it('as handle in the address find their own agent', async () => {
    const answers = await each((text) => test.http.get(`/agents/${encodeURIComponent(text)}/memory`));
    const found = answers.flatMap(({ status, body }, index) =>
      status === 200 ? [[naughty[index], (body as { handle: string }).handle]] : [],
    );
    expect(found.length).toBeGreaterThan(400);
    for (const [asked, answered] of found) expect(answered).toBe(asked);
  }, 60_000);

  it('as memory come back as they are, or are refused or flagged', async () => {
    const stored = await each((text) =>
      test.http.post('/agents/notes/diary').send({ kind: 'diary_long', content: text }),
    );
    const kept = stored.flatMap(({ status, body }, index) =>
      status < 202 ? [[(body as { content: string }).content, naughty[index]]] : [],
    );
    expect(kept.length).toBeGreaterThan(400);
    for (const [content, text] of kept) expect(content).toBe(text);
  }, 60_000);

  it('as a search are answered', async () => {
    const answers = await each((text, index) =>
      test.http.get(`/agents/notes/${index % 2 ? 'episodes' : 'diary'}?q=${encodeURIComponent(text)}&limit=3`),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
  }, 60_000);

  it('as a role, a filter, a cursor, a tool and an argument harm nothing', async () => {
    await each((text, index) => {
      const encoded = encodeURIComponent(text);
      return [
        () => test.http.get(`/agents?role=${encoded}&unit=${encoded}`),
        () => test.http.get(`/agents?cursor=${encoded}`),
        () => test.http.post(`/roles/${encoded}/slots`),
        () =>
          test.http
            .post('/agents/notes/tools/query_episodes')
            .send({ turn_id: randomUUID(), phase: 'plan', arguments: { query: text, outcome_filter: 'done' } }),
        () => test.http.post(`/agents/notes/tools/${encoded}`).send({ turn_id: randomUUID(), phase: 'plan' }),
        () => test.http.get('/agents/notes/tools').set('authorization', text.replace(/[^\t\x20-\x7e]/g, '')),
      ][index % 6]!();
    });
  }, 60_000);
});
