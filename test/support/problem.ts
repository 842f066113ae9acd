import { STATUS_CODES } from 'node:http';
import { expect } from '@jest/globals';
import type { Response } from 'supertest';

interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  errors?: { path: string; message: string }[];
}

const FIELDS = ['type', 'title', 'status', 'detail', 'code'];
/** Traces of what is inside: stack lines, files of ours, the database's and the framework's own words. */
const INSIDE = [
  /\n\s+at /,
  /node_modules|\.[jt]s:\d|file:\/\//,
  /\b(select|insert into|update|delete from)\b.*\b(from|set|values|where)\b/i,
  /QueryFailed|relation "|column "|duplicate key|invalid input syntax|invalid byte sequence|FST_ERR|Cannot (GET|POST|PUT|PATCH|DELETE)/,
];

/** That a request was refused in the one form there is (RFC 9457); answers with the problem. */
export function expectProblem(response: Response, status: number, code: string | RegExp): Problem {
  const problem = JSON.parse(response.text) as Problem;
  expect({ status: response.status, code: problem.code }).toEqual({
    status,
    code: typeof code === 'string' ? code : expect.stringMatching(code),
  });
  expect(response.headers['content-type']).toBe('application/problem+json; charset=utf-8');
  const { errors, ...fields } = problem;
  expect(Object.keys(fields).sort()).toEqual([...FIELDS].sort());
  expect(fields).toMatchObject({ type: 'about:blank', title: STATUS_CODES[status], status });
  expect(fields.detail).toMatch(/\S/);
  expect(problem.code).toMatch(/^[a-z_]+\.[a-z_]+$/);
  if (status === 422) expect(errors?.length).toBeGreaterThan(0);
  for (const error of errors ?? []) {
    expect(error).toEqual({ path: expect.any(String), message: expect.stringMatching(/\S/) });
    expect(error.path).not.toMatch(/undefined|null/);
  }
  for (const inside of INSIDE) expect(response.text).not.toMatch(inside);
  return problem;
}

/** That the service answered, or refused in the one form there is. */
export function expectNoFault(response: Response): void {
  if (response.status >= 500) throw new Error(`${response.request.method} ${response.request.url}: ${response.text}`);
  if (response.status >= 400) expectProblem(response, response.status, /./);
}
