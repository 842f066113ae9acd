import type { ZodType } from 'zod';
import { storableJson, storableText } from '../text/storable-text.js';
import { lastBalanced, type Opener } from './balanced-json.js';

/** What a model's answer turned out to be. `unusable` is final: it is neither asked for again nor guessed at. */
export type Answer<Value> = { kind: 'noop' } | { kind: 'answer'; value: Value } | { kind: 'unusable'; reason: string };

/** `array`: the answer is an array, or `{"selected": [...]}` around one. */
export type AnswerShape = 'object' | 'array';

const NOOP: Answer<never> = { kind: 'noop' };

/**
 * Reads a JSON answer. A byte-order mark and fences are stripped; NOOP at the start (in any case) or `{"noop": true}` is a
 * NOOP. If the whole is JSON it counts where it fits `schema`, and is unusable where it does not; else the last balanced
 * object (with `array`: array or object) in it that fits counts. What comes back holds storable text only.
 */
export function readJsonAnswer<Value>(
  text: string,
  schema: ZodType<Value>,
  shape: AnswerShape = 'object',
): Answer<Value> {
  const bare = bareText(text);
  if (bare === '') return unusable('the answer is empty');
  if (startsWithNoop(bare)) return NOOP;
  const openers: Opener[] = shape === 'array' ? ['{', '['] : ['{'];
  try {
    const whole = parsed(bare);
    if (whole) return fitting(whole.value, schema, shape) ?? unusable(misfit(whole.value, schema, shape));
    return (
      lastBalanced(bare, openers, (json) => fitting(json, schema, shape)) ??
      unusable(`the answer holds no ${shape} that fits`)
    );
  } catch (error) {
    if (error instanceof RangeError) return unusable('the answer is nested too deeply');
    throw error;
  }
}

/** Reads an answer in plain text: NOOP at the start (in any case) and an empty answer are a NOOP. */
export function readTextAnswer(text: string): Answer<string> {
  const bare = storableText(bareText(text));
  return bare === '' || startsWithNoop(bare) ? NOOP : { kind: 'answer', value: bare };
}

/** The text without byte-order mark, the fence around it and the space around that. */
function bareText(text: string): string {
  // trim() takes a byte-order mark for space
  const trimmed = text.trim();
  const opening = /^(`{3,}|~{3,})[\w+-]*[ \t]*(?:\r?\n|(?=[[{]))/.exec(trimmed);
  if (!opening) return trimmed;
  const fence = opening[1]!;
  const inside = trimmed.slice(opening[0].length);
  if (inside.endsWith(fence)) return inside.slice(0, -fence.length).trim();
  return inside.includes(fence) ? trimmed : inside.trim();
}

/** Quotes, emphasis and a fence around the word are how models write it. */
function startsWithNoop(text: string): boolean {
  return /^(?:`{3,}\w*\s+)?["'`*_]*NOOP/i.test(text);
}

function parsed(text: string): { value: unknown } | null {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The answer that `json` is; null where it does not fit. */
function fitting<Value>(json: unknown, schema: ZodType<Value>, shape: AnswerShape): Answer<Value> | null {
  const value = unwrapped(json, shape);
  if (value === NOOP) return NOOP;
  if (value === undefined) return null;
  const result = schema.safeParse(value);
  return result.success ? { kind: 'answer', value: result.data } : null;
}

/** The value to check: of the right type, storable, without the flag that says it is no NOOP; undefined where of another type. */
function unwrapped(json: unknown, shape: AnswerShape): unknown {
  if (json === null || typeof json !== 'object') return undefined;
  if (Array.isArray(json)) return shape === 'array' ? storableJson(json) : undefined;
  const { noop, ...rest } = json as { noop?: unknown; selected?: unknown };
  if (noop === true) return NOOP;
  if (shape === 'array') return Array.isArray(rest.selected) ? storableJson(rest.selected) : undefined;
  return storableJson(noop === false || noop === null ? rest : json);
}

function misfit<Value>(json: unknown, schema: ZodType<Value>, shape: AnswerShape): string {
  const value = unwrapped(json, shape);
  const issue = value === undefined ? undefined : schema.safeParse(value).error?.issues[0];
  if (!issue) return `the answer is JSON, but no ${shape}`;
  return `the answer does not fit: ${storableText([...issue.path.map(String), issue.message].join(': '))}`;
}

function unusable(reason: string): Answer<never> {
  return { kind: 'unusable', reason };
}
