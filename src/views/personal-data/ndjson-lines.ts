import { MAX_DEPTH, storableBody } from '../../platform/http/json-body.js';
import { ApiError } from '../../platform/http/api-error.js';

/** Bytes of one line (HTTP contract, "Operator"). */
export const LINE_LIMIT = 2 * 1024 * 1024;
const NEWLINE = 0x0a;

export interface NdjsonLine {
  /** From 1, blank lines counted. */
  number: number;
  value: Record<string, unknown>;
}

/**
 * The lines of an NDJSON stream, one in memory at a time, their text made storable. Blank lines are passed over.
 *
 * @throws ApiError 413 `import.line_too_long` and 422 `import.invalid_line`, naming the line
 */
export async function* ndjsonLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<NdjsonLine> {
  let number = 1;
  let rest: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    let begin = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, begin)) {
      rest.push(chunk.subarray(begin, end));
      if (size + end - begin > LINE_LIMIT) throw lineTooLong(number);
      const line = lineOf(rest, number);
      if (line) yield line;
      rest = [];
      size = 0;
      begin = end + 1;
      number += 1;
    }
    rest.push(chunk.subarray(begin));
    size += chunk.length - begin;
    if (size > LINE_LIMIT) throw lineTooLong(number);
  }
  const last = lineOf(rest, number);
  if (last) yield last;
}

export function invalidLine(number: number, why: string): ApiError {
  return new ApiError(422, 'import.invalid_line', `Line ${number}: ${why}. Nothing was imported.`, [
    { path: `line ${number}`, message: why },
  ]);
}

function lineOf(parts: readonly Buffer[], number: number): NdjsonLine | null {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts));
  } catch {
    throw invalidLine(number, 'it is not UTF-8');
  }
  if (text.trim() === '') return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidLine(number, 'it is not valid JSON');
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw invalidLine(number, 'it is not an object');
  }
  try {
    return { number, value: storableBody(value) as Record<string, unknown> };
  } catch {
    throw invalidLine(number, `it nests deeper than ${MAX_DEPTH} levels`);
  }
}

function lineTooLong(number: number): ApiError {
  return new ApiError(
    413,
    'import.line_too_long',
    `Line ${number} is longer than ${LINE_LIMIT} bytes. Nothing was imported.`,
    [{ path: `line ${number}`, message: `is longer than ${LINE_LIMIT} bytes` }],
  );
}
