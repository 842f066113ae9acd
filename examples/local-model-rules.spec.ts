import { describe, expect, it } from '@jest/globals';
import { datesIn, isoDay, ttlDays } from './local-model-dates.js';
import { toThirdPerson } from './local-model-language.js';
import { decidePersistence, type PersistAnswer } from './local-model-persist.js';
import {
  compactEpisodes,
  draftSkill,
  knowledgeQuery,
  profileTraits,
  refinementNote,
  selectMemories,
  summarizeEpisodes,
} from './local-model-rules.js';

const at = new Date('2026-10-05T09:15:00Z'); // a Monday

function decide(text: string, known: string[] = [], sender = 'Ada Lovelace'): PersistAnswer {
  return decidePersistence({
    at,
    messages: [{ sender, text }],
    known: known.map((fact, index) => ({ n: index + 1, text: fact })),
  });
}

describe('decidePersistence: LONG', () => {
  it.each([
    ['I prefer a short summary first, details later.', 'Ada Lovelace prefers a short summary first, details later.'],
    ['Fine. But from now on I need the PR link.', 'From 2026-10-05 on Ada Lovelace needs the PR link.'],
    ['Thanks! Please always answer me by e-mail.', 'Ada Lovelace wants the agent to always answer them by e-mail.'],
    [
      'Whenever you deploy, please never use my account.',
      'Whenever the agent deploys, Ada Lovelace wants the agent never to use their account.',
    ],
    ['From now on the review is on Tuesdays.', 'From 2026-10-05 on the review is on Tuesdays (told by Ada Lovelace).'],
    [
      'Every commit on label-service needs a changelog line.',
      'Every commit on label-service needs a changelog line (told by Ada Lovelace).',
    ],
    [
      'Guten Tag. Schreiben Sie uns künftig immer auf Deutsch.',
      'Ada Lovelace said on 2026-10-05: "Schreiben Sie uns künftig immer auf Deutsch."',
    ],
    ['返信は今後日本語でお願いします', 'Ada Lovelace said on 2026-10-05: "返信は今後日本語でお願いします"'],
  ])('%s', (text, content) => {
    expect(decide(text)).toEqual({ kind: 'LONG', content });
  });

  it('attributes each message of a coalesced trigger to its own sender', () => {
    const messages = [
      { sender: 'Bob Roe', text: 'why was this refunded twice?' },
      { sender: 'Cy Doe', text: 'No harm done. I prefer one comment a refund.' },
    ];
    expect(decidePersistence({ at, messages, known: [] }).content).toBe('Cy Doe prefers one comment a refund.');
  });
});

describe('decidePersistence: SHORT', () => {
  it('counts the days to the end of the named day', () => {
    expect(decide('Release freeze for checkout-api until October 9.')).toEqual({
      kind: 'SHORT',
      content: 'Release freeze for checkout-api until October 9 (until 2026-10-09; told by Ada Lovelace).',
      ttl_days: 5,
    });
  });

  it('takes the sentence that leans on it along', () => {
    expect(decide('I am on vacation from October 12 until October 23. Bob covers for me until then.').content).toBe(
      'Ada Lovelace is on vacation from October 12 until October 23 (until 2026-10-23). Bob covers for Ada Lovelace until then.',
    );
  });

  it('reads "this week" as a state only beside a word for one', () => {
    expect(decide('Stocktaking in hall 2 this week.')).toMatchObject({ kind: 'SHORT', ttl_days: 7 });
    expect(decide('Please send me the report for this week.').kind).toBe('NOOP');
  });

  it('does not live on after more than 180 days', () => {
    expect(decide('The contract runs until December 31, 2028.').ttl_days).toBe(180);
  });
});

describe('decidePersistence: DOC', () => {
  it('takes the finding that the cue refers back to, with where it belongs', () => {
    const answer = decide('The probe needs 45 seconds after a cold start. The on-call runbook should say so.');
    expect(answer).toEqual({
      kind: 'DOC',
      content: 'The probe needs 45 seconds after a cold start. The on-call runbook should say so.',
      target_hint: 'on-call runbook',
      rationale: 'Ada Lovelace says that it concerns more people than this agent.',
    });
  });

  it('is exempt from what is known', () => {
    const known = ['Refunds above 200 EUR wait for an approval, this is for everyone on the team.'];
    expect(decide('Refunds above 200 EUR wait for an approval, this is for everyone on the team.', known).kind).toBe(
      'DOC',
    );
  });
});

describe('decidePersistence: NOOP', () => {
  it.each([
    'checkout-api 2.9.0 is approved, please take it to production.',
    'Would you prefer Monday or Tuesday?',
    'Freeze is over, thanks for your patience everyone.',
    'It failed until I restarted it.',
    'I followed the runbook and it worked.',
    'よろしくお願いします！',
    '👍',
    '',
  ])('%s', (text) => {
    expect(decide(text)).toEqual({ kind: 'NOOP', content: '' });
  });

  it('says nothing again that is known', () => {
    expect(decide('I prefer a short summary first.', ['Ada Lovelace prefers a short summary first.']).kind).toBe(
      'NOOP',
    );
  });
});

describe('decidePersistence: what is superseded', () => {
  const summary = 'Ada Lovelace prefers a short summary first when the agent escalates something to them.';

  it('is the known fact that a reversal speaks of', () => {
    const text = 'I no longer want the short summary first when you escalate something, I prefer the full timeline.';
    expect(decide(text, ['The vault opens at eight.', summary])).toMatchObject({ kind: 'LONG', supersedes: [2] });
  });

  it("is never another person's wish", () => {
    const text = 'I no longer want the short summary first when you escalate something, I prefer the full timeline.';
    expect(decide(text, [summary], 'Bob Roe').supersedes).toBeUndefined();
  });

  it('is the earlier date of the same state', () => {
    const known = [
      '(until 2026-10-07 UTC) Release freeze for checkout-api until October 7 (until 2026-10-07; told by Bob Roe).',
    ];
    expect(decide('Release freeze for checkout-api until October 21.', known)).toMatchObject({
      ttl_days: 17,
      supersedes: [1],
    });
  });

  it('is nothing where the subject is another one', () => {
    const text = 'Please do not post the error rate in #releases any more.';
    expect(decide(text, [summary, 'Bob Roe wants the agent to always attach the invoice.']).supersedes).toBeUndefined();
  });
});

describe('dates', () => {
  it.each([
    ['2026-11-03', '2026-11-03'],
    ['October 9th', '2026-10-09'],
    ['9 Oct', '2026-10-09'],
    ['January 8', '2027-01-08'],
    ['March 1, 2027', '2027-03-01'],
    ['Friday', '2026-10-09'],
    ['Monday', '2026-10-12'],
    ['tomorrow', '2026-10-06'],
    ['the 3rd', '2026-11-03'],
    ['end of the month', '2026-10-31'],
    ['next week', '2026-10-18'],
  ])('until %s is %s', (text, day) => {
    expect(datesIn(`closed until ${text}`, at).map((found) => isoDay(found.day))).toEqual([day]);
  });

  it('that no calendar has are none', () => {
    expect(datesIn('until February 30', at)).toEqual([]);
  });

  it('last at least a day', () => {
    expect(ttlDays(new Date('2026-10-05T00:00:00Z'), at)).toBe(1);
    expect(ttlDays(new Date('2020-01-01T00:00:00Z'), at)).toBe(1);
  });
});

describe('toThirdPerson', () => {
  it.each([
    ["I'm away and I can't read my mail", "Ada is away and they can't read their mail"],
    ['I only want what you are sure of', 'Ada only wants what the agent is sure of'],
    ['you agreed with me', 'the agent agreed with Ada'],
    ['I need it, you need it', 'Ada needs it, the agent needs it'],
  ])('%s', (said, told) => {
    expect(toThirdPerson(said, 'Ada')).toBe(told);
  });
});

describe('selectMemories', () => {
  const candidates = [
    'Ada Lovelace prefers the PR link only.',
    'Bob Roe prefers bullet points about every release.',
    'Release freeze for checkout-api and ledger until January 8, 2027 (until 2027-01-08; told by Bob Roe).',
    'Every commit on label-service needs a changelog line (told by Bob Roe).',
    'Every pull request needs two reviewers.',
    'The coffee machine in hall 2 is out of order.',
  ].map((text, index) => ({ n: index + 1, text }));

  it('takes the wishes of those who ask, the state of the things named and what holds for all work', () => {
    const task = 'checkout-api 2.13 is ready: can you take it to production and tell #releases?';
    expect(selectMemories({ task, senders: ['Ada Lovelace'], candidates })).toEqual([1, 3, 5]);
  });

  it('takes the wishes of someone who is named', () => {
    expect(selectMemories({ task: 'Send it to Bob Roe.', senders: [], candidates })).toContain(2);
  });

  it('takes no more than eight', () => {
    const many = Array.from({ length: 20 }, (_none, index) => ({ n: index + 1, text: 'ledger export runs nightly' }));
    expect(selectMemories({ task: 'the ledger export failed', senders: [], candidates: many })).toHaveLength(8);
  });
});

describe('the other workers', () => {
  const deploy = ['jira_get_issue', 'run_pipeline', 'wait_for_rollout', 'query_metrics', 'post_slack_message'];

  it('search for the names of things first', () => {
    expect(knowledgeQuery('Please roll checkout-api back, PLAT-12 says why')).toBe('checkout-api PLAT-12 roll back');
    expect(knowledgeQuery('yes')).toBe('yes');
    expect(knowledgeQuery('and so on')).toBe('');
  });

  it('draft a skill from five calls or three turns on, named after the first that acts', () => {
    const input = { tools: deploy, task: 'deploy 2.9', steps: ['Deploy'], turns: 1, takenNames: [] };
    const draft = draftSkill(input);
    expect(draft?.name).toBe('run-pipeline');
    expect(draft?.body).toContain('2. Call `run_pipeline`.');
    expect(draft?.body).toContain('- Deploy');
    expect(draftSkill({ ...input, takenNames: ['run-pipeline'] })).toBeNull();
    expect(draftSkill({ ...input, tools: deploy.slice(1) })).toBeNull();
    expect(draftSkill({ ...input, tools: deploy.slice(1), turns: 3 })?.name).toBe('run-pipeline');
    expect(draftSkill({ ...input, tools: [], turns: 3 })).toBeNull();
  });

  it('note how a turn departed from its skill', () => {
    const used = { task: 'deploy 2.12', body: deploy.join('\n') };
    expect(refinementNote({ ...used, outcome: 'done', tools: deploy })).toBeNull();
    expect(refinementNote({ ...used, outcome: 'done', tools: [...deploy, 'jira_add_comment'] })).toBe(
      'Also called jira_add_comment for: deploy 2.12',
    );
    expect(refinementNote({ ...used, outcome: 'failed', tools: ['run_pipeline'] })).toBe(
      'Did not get to the end, last call run_pipeline: deploy 2.12',
    );
  });

  it('profile the language, the wishes and the topics of a person', () => {
    expect(profileTraits('Bonjour, merci de regarder checkout-api')).toEqual([
      { key: 'language', values: ['French'] },
      { key: 'topics', values: ['checkout-api'] },
    ]);
    expect(profileTraits('ok')).toEqual([]);
  });

  it('summarise and compact episodes without adding anything', () => {
    const hits = [
      { outcome: 'done', task: 'deploy label-service 3.1', tools: deploy, day: '2026-09-15', count: 1 },
      { outcome: 'failed', task: 'deploy label-service 3.3', tools: [], day: '2026-10-26', count: 1 },
    ];
    expect(summarizeEpisodes(hits, 'label-service again')).toBe(
      '- done, 2026-09-15: deploy label-service 3.1 (jira_get_issue → run_pipeline → wait_for_rollout → query_metrics → post_slack_message)\n' +
        '- failed, 2026-10-26: deploy label-service 3.3',
    );
    expect(compactEpisodes(hits)).toMatchObject({
      common_outcome: '1 of 2 done',
      subjects_involved: ['label-service'],
    });
    expect(summarizeEpisodes(hits, 'the coffee machine')).toBe('');
  });
});
