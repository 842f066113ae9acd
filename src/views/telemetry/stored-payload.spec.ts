import { describe, expect, it } from '@jest/globals';
import { MAX_PAYLOAD, storedPayload } from './stored-payload.js';

const parsed = (payload: unknown): unknown => JSON.parse(storedPayload(payload));

describe('a payload', () => {
  it('is stored as it is, emoji and decomposed accents included', () => {
    const payload = { text: '👩‍👩‍👧 e\u0301', list: [1, null, { deep: true }], empty: {} };
    expect(parsed(payload)).toEqual(payload);
  });

  it('is made storable', () => {
    expect(parsed({ 'a\u0000': ['\ud800x', { b: '\u0000' }] })).toEqual({ 'a\ufffd': ['\ufffdx', { b: '\ufffd' }] });
    expect(parsed(null)).toEqual({});
    expect(parsed(undefined)).toEqual({});
  });

  it('that is too long is clipped, never through a surrogate pair, and says so', () => {
    const stored = parsed({
      tools: Array(10_000).fill('tool name'),
      text: `${'x'.repeat(1_999)}😀${'y'.repeat(99_000)}`,
      n: 7,
    });
    expect(stored).toEqual({ tools: Array(200).fill('tool name'), text: 'x'.repeat(1_999), n: 7, clipped: true });
  });

  it('that is still too long is left out', () => {
    const wide = Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`key-${index}`, index]));
    expect(parsed(wide)).toEqual({ clipped: true });
    expect(storedPayload({ text: 'x'.repeat(MAX_PAYLOAD * 3) }).length).toBeLessThan(MAX_PAYLOAD);
  });

  it('that JSON cannot express throws', () => {
    const endless: Record<string, unknown> = {};
    endless.self = endless;
    expect(() => storedPayload(endless)).toThrow();
    expect(() => storedPayload({ big: 1n })).toThrow(TypeError);
  });
});
