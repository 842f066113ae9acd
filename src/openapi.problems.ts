import { STATUS_CODES } from 'node:http';
import type { OpenAPIObject } from '@nestjs/swagger';
import { isOpenPath } from './platform/auth/open-paths.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Components = NonNullable<OpenAPIObject['components']>;

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

/** Why a request is refused, by status; which routes may answer so is said by `statusesOf`. */
const REASONS: Record<number, string> = {
  400: 'The body is not JSON (`body.malformed`) or nests too deep (`body.too_deep`).',
  401: 'No key, or a wrong one.',
  403: 'The key lacks the scope of this route; without keys, a request by another host name than loopback (`auth.foreign_host`).',
  404: "There is no such thing, or it is another organisation's.",
  413: 'The body is larger than this route takes.',
  415: 'The body is of another content type than this route takes.',
  422: 'Something in the request is not valid; `errors` names each field.',
  429: 'Too many requests, or no slot is free; `Retry-After` says when to try again.',
};

const PROBLEM: NonNullable<Components['schemas']>[string] = {
  type: 'object',
  description: 'RFC 9457.',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string', enum: ['about:blank'] },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', description: 'Stable and dotted, e.g. `agent.not_found`.' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: {
          path: { type: 'string', description: 'Dotted path of the field, e.g. `turns.3.agent`.' },
          message: { type: 'string' },
        },
      },
    },
  },
};

const CONTENT = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };

/** Says of every route by which problems it may answer, and which need no key. What a route says itself of a status holds. */
export function describeProblems(document: OpenAPIObject): void {
  const components = (document.components ??= {});
  components.schemas = { ...components.schemas, Problem: PROBLEM };
  components.responses = Object.fromEntries(
    Object.entries(REASONS).map(([status, description]) => [
      nameOf(status),
      {
        description,
        content: CONTENT,
        ...(status === '429' ? { headers: { 'Retry-After': { schema: { type: 'integer' } } } } : {}),
      },
    ]),
  );
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const operation = item[method];
      if (!operation) continue;
      const open = isOpenPath(path);
      if (open) operation.security = [];
      const problems = statusesOf(operation, open).map((status) => [
        String(status),
        { $ref: `#/components/responses/${nameOf(String(status))}` },
      ]);
      for (const [status, own] of Object.entries(operation.responses)) {
        if (Number(status) >= 400 && own && !('$ref' in own)) own.content = CONTENT;
      }
      operation.responses = { ...(Object.fromEntries(problems) as Operation['responses']), ...operation.responses };
    }
  }
}

function statusesOf(operation: Operation, open: boolean): number[] {
  const parameters = (operation.parameters ?? []).map((parameter) => ('in' in parameter ? parameter.in : ''));
  const body = operation.requestBody !== undefined;
  return [
    ...(body ? [400] : []),
    ...(open ? [] : [401, 403]),
    ...(parameters.includes('path') ? [404] : []),
    ...(body ? [413, 415] : []),
    ...(body || parameters.includes('query') ? [422] : []),
    ...(open ? [] : [429]),
  ];
}

function nameOf(status: string): string {
  return (STATUS_CODES[status] ?? '').replaceAll(/[^A-Za-z]/g, '');
}
