import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { readJsonAnswer, readTextAnswer } from './answers.js';

const memory = z.object({ kind: z.enum(['LONG', 'SHORT']), content: z.string() });
const numbers = z.array(z.unknown());
const wanted = { kind: 'LONG', content: 'Bob likes tea' };
const json = JSON.stringify(wanted);

describe('an answer in JSON', () => {
  it.each([
    ['plain', json],
    ['pretty', JSON.stringify(wanted, null, 2)],
    ['fenced', `\`\`\`json\n${json}\n\`\`\``],
    ['fenced without a language', `\`\`\`\n${json}\n\`\`\``],
    ['fenced with tildes', `~~~json\n${json}\n~~~`],
    ['fenced on one line', `\`\`\`json${json}\`\`\``],
    ['fenced with CRLF', `\`\`\`json\r\n${json}\r\n\`\`\``],
    ['fenced and never closed', `\`\`\`json\n${json}`],
    ['fenced, prose after it', `\`\`\`json\n${json}\n\`\`\`\nThat is all.`],
    ['after prose', `Here is what I would keep: ${json}`],
    ['fenced after prose', `Sure!\n\n\`\`\`json\n${json}\n\`\`\``],
    ['between prose', `I thought. ${json} Done.`],
    ['after braces in prose', `I saw {curly} and {"quoted"} and {}. ${json}`],
    ['after a brace that is never closed', `A set { of things, then ${json}`],
    ['after a brace and a quote that are never closed', `He said {"hi and left. ${json}`],
    ['in doubled braces', `{${json}}`],
    ['with a byte-order mark', `\uFEFF${json}`],
    ['with a byte-order mark in the fence', `\`\`\`json\n\uFEFF${json}\n\`\`\``],
    ['with noop: false', JSON.stringify({ noop: false, ...wanted })],
    ['with unknown keys', JSON.stringify({ ...wanted, why: 'because' })],
    ['corrected after an invalid try', `{"kind": LONG}\nCorrected: ${json}`],
    ['as the last of two that fit', `${JSON.stringify({ kind: 'SHORT', content: 'draft' })}\nBetter:\n${json}`],
    ['before one that does not fit', `${json} (confidence: {"value": 0.9})`],
  ])('%s is read', (_name, text) => {
    expect(readJsonAnswer(text, memory)).toEqual({ kind: 'answer', value: wanted });
  });

  it('keeps braces, quotes and fences inside a value', () => {
    const value = { kind: 'LONG' as const, content: 'Run `x`:\n```js\nif (a) { b("}"); }\n```\n\\"{' };
    for (const text of [
      JSON.stringify(value),
      `Look: ${JSON.stringify(value)}`,
      `\`\`\`json\n${JSON.stringify(value)}\n\`\`\``,
    ]) {
      expect(readJsonAnswer(text, memory)).toEqual({ kind: 'answer', value });
    }
  });

  it.each([
    ['empty', ''],
    ['blank', ' \n\t'],
    ['a byte-order mark alone', '\uFEFF'],
    ['null', 'null'],
    ['a number', '7'],
    ['a string', '"LONG"'],
    ['an array around the object', `[${json}]`],
    ['an object around the object', `{"memory": ${json}}`],
    ['an object of another form', '{"kind": "NEVER", "content": "x"}'],
    ['truncated', json.slice(0, -3)],
    ['truncated after a complete part', `{"items": [${json}, ${json.slice(0, 9)}`],
    ['prose', 'I would rather not say.'],
    ['an empty object', '{}'],
    ['braces alone', '{}{}{}'],
    ['single quotes', "{'kind': 'LONG', 'content': 'x'}"],
  ])('%s is unusable', (_name, text) => {
    expect(readJsonAnswer(text, memory)).toMatchObject({
      kind: 'unusable',
      reason: expect.stringMatching(/^the answer /),
    });
  });

  it.each([
    'NOOP',
    'noop',
    'NOOP: nothing new',
    '"NOOP"',
    '**NOOP**',
    '```\nNOOP\n```',
    '\uFEFFNOOP',
    '```\nNOOP\n```\nAs asked.',
    `NOOP\n${json}`,
    '{"noop": true}',
    'Nothing here. {"noop": true}',
    `${json} No: {"noop": true}`,
    '```json\n{"noop":true}\n```',
    JSON.stringify({ noop: true, kind: 'LONG', content: 'x' }),
  ])('%j is a NOOP', (text) => {
    expect(readJsonAnswer(text, memory)).toEqual({ kind: 'noop' });
  });

  it('does not take a NOOP later in the text for one', () => {
    expect(readJsonAnswer('I say NOOP', memory).kind).toBe('unusable');
    expect(readJsonAnswer('{"noop": "true"}', memory).kind).toBe('unusable');
  });

  it('hands on storable text only', () => {
    const text = '{"kind":"LONG","content":"a\\u0000b \\ud800 c"}';
    expect(readJsonAnswer(text, memory)).toEqual({
      kind: 'answer',
      value: { kind: 'LONG', content: 'a\uFFFDb \uFFFD c' },
    });
  });

  it('says what does not fit', () => {
    expect(readJsonAnswer('{"kind":"LONG","content":5}', memory)).toMatchObject({
      reason: expect.stringContaining('content: Invalid input'),
    });
    expect(readJsonAnswer('[]', memory)).toMatchObject({ reason: 'the answer is JSON, but no object' });
  });

  it('survives depth and length', () => {
    const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
    expect(readJsonAnswer(deep, z.object({ a: z.unknown() })).kind).toBe('unusable');
    const started = performance.now();
    expect(readJsonAnswer('{'.repeat(60_000), memory).kind).toBe('unusable');
    expect(readJsonAnswer(`{"${'\\"'.repeat(500_000)}`, memory).kind).toBe('unusable');
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

describe('an answer in an array', () => {
  it.each([
    ['[0, 999, "x"]', [0, 999, 'x']],
    ['{"selected": [1, 2]}', [1, 2]],
    ['Sure: [3]', [3]],
    ['The list [is here]: [3, 4].', [3, 4]],
    ['Sure: {"selected": [5]}', [5]],
    ['```json\n[6]\n```', [6]],
    ['[]', []],
  ])('%s is read', (text, value) => {
    expect(readJsonAnswer(text, numbers, 'array')).toEqual({ kind: 'answer', value });
  });

  it.each(['{"numbers": [1]}', '7', '[1, 2', '{"selected": [1], "wh', 'none', 'null'])('%s is unusable', (text) => {
    expect(readJsonAnswer(text, numbers, 'array').kind).toBe('unusable');
  });

  it.each(['NOOP', '{"noop": true}'])('%s is a NOOP', (text) => {
    expect(readJsonAnswer(text, numbers, 'array')).toEqual({ kind: 'noop' });
  });
});

describe('an answer in plain text', () => {
  it.each(['', '  ', '\uFEFF', 'NOOP', 'Noop.', '```\nNOOP\n```', '```\n```'])('%j is a NOOP', (text) => {
    expect(readTextAnswer(text)).toEqual({ kind: 'noop' });
  });

  it('is bare and storable', () => {
    expect(readTextAnswer(' \uFEFFrefund policy\n')).toEqual({ kind: 'answer', value: 'refund policy' });
    expect(readTextAnswer('```\nrefund policy\n```')).toEqual({ kind: 'answer', value: 'refund policy' });
    expect(readTextAnswer('```\na\n```\nb\n')).toEqual({ kind: 'answer', value: '```\na\n```\nb' });
    expect(readTextAnswer('a\u0000b')).toEqual({ kind: 'answer', value: 'a\uFFFDb' });
  });
});

describe('whatever a model writes', () => {
  const anything = z.object({ kind: z.string().optional(), content: z.string().optional() });
  const memories = fc.record({
    kind: fc.constantFrom('LONG' as const, 'SHORT' as const),
    content: fc.string({ unit: 'grapheme' }),
  });
  const prose = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '{', '}', '[', ']', '`', "'", ',', ':', '.') });

  it('never throws', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('object' as const, 'array' as const),
        (text, shape) => {
          expect(['noop', 'answer', 'unusable']).toContain(readJsonAnswer(text, memory, shape).kind);
          expect(['noop', 'answer']).toContain(readTextAnswer(text).kind);
        },
      ),
    );
  });

  it('is found after any prose without quotes', () => {
    fc.assert(
      fc.property(prose, memories, (before, value) => {
        fc.pre(!/^\W*noop/i.test(before));
        expect(readJsonAnswer(`${before}\n${JSON.stringify(value)}`, memory)).toEqual({ kind: 'answer', value });
      }),
    );
  });

  it('is unusable wherever it was cut off', () => {
    fc.assert(
      fc.property(memories, fc.nat(), (value, cut) => {
        const whole = JSON.stringify({ note: 'a {} b', ...value, inner: { kind: 'LONG', content: 'part' }, end: 1 });
        expect(readJsonAnswer(whole.slice(0, cut % whole.length), anything).kind).toBe('unusable');
      }),
    );
  });
});
