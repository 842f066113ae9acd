import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startApp, type TestApp } from './support/app.js';
import { addressOf, servedRoutes, type Method } from './support/routes.js';

interface Schema {
  type?: string;
  $ref?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  default?: unknown;
}

interface Operation {
  security?: unknown[];
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { $ref?: string; content?: Record<string, { schema: Schema }> }>;
}

interface Document {
  paths: Record<string, Partial<Record<Method, Operation>>>;
  components: { schemas: Record<string, Schema>; responses: Record<string, Operation['responses'][string]> };
}

const root = fileURLToPath(new URL('../', import.meta.url));
/** The one that the build writes: only it knows the types of all fields. */
const text = readFileSync(join(root, 'openapi.json'), 'utf8');
const document = JSON.parse(text) as Document;
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method: method as Method, operation })),
);
const OPEN = ['/health/live', '/health/ready'];

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ env: { ADMIN_API_KEY: 'root-key' } });
});
afterAll(() => test.close());

describe('openapi.json', () => {
  it('holds the routes that are served', async () => {
    const served = await servedRoutes(test.http);
    expect(operations.map(({ method, path }) => `${method} ${path}`)).toEqual(
      served.map(({ method, path }) => `${method} ${path}`),
    );
  });

  it.each(operations.map(({ method, path, operation }) => ({ name: `${method} ${path}`, path, operation })))(
    '$name says how it refuses, and that as a problem',
    ({ path, operation }) => {
      const statuses = Object.keys(operation.responses);
      expect(statuses.filter((status) => status < '300').length).toBeGreaterThan(0);
      const open = OPEN.includes(path);
      const body = operation.requestBody !== undefined;
      const query = operation.parameters?.some((parameter) => parameter.in === 'query') ?? false;
      const expected = [
        ...(open ? [] : ['401', '403', '429']),
        ...(path.includes('{') ? ['404'] : []),
        ...(body ? ['400', '413', '415'] : []),
        ...(body || query ? ['422'] : []),
      ];
      expect(statuses).toEqual(expect.arrayContaining(expected));
      if (open) expect(operation.security).toEqual([]);
      else expect(operation.security).toBeUndefined();
      for (const status of statuses.filter((each) => each >= '400')) {
        const response = operation.responses[status]!;
        const shared = response.$ref?.slice('#/components/responses/'.length);
        const { content } = shared === undefined ? response : document.components.responses[shared]!;
        expect(content).toEqual({ 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } });
      }
    },
  );

  it('asks no key of what is open, and only of that', async () => {
    for (const { path, method } of operations) {
      const { status } = await test.http[method](addressOf({ path, method, takesBody: false }));
      expect([path, status]).toEqual([path, OPEN.includes(path) ? 200 : 401]);
    }
  });

  it('knows the fields of every body and the filters of every list', () => {
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      expect([name, Object.keys(schema.properties ?? {}).length]).not.toEqual([name, 0]);
      for (const [field, { type, default: byDefault }] of Object.entries(schema.properties ?? {})) {
        expect([name, field, type]).not.toEqual([name, field, 'number']);
        if (byDefault !== undefined)
          expect([name, schema.required ?? []]).not.toEqual([name, expect.arrayContaining([field])]);
      }
    }
    expect(document.components.schemas.FinishedTurnDto?.required?.sort()).toEqual(
      [
        'turn_id',
        'agent',
        'role',
        'task_description',
        'plan',
        'tool_sequence',
        'review_outcome',
        'started_at',
        'ended_at',
      ].sort(),
    );
    for (const path of [
      '/agents',
      '/agents/{id}/diary',
      '/agents/{id}/episodes',
      '/jobs',
      '/quarantine',
      '/api-keys',
    ]) {
      const { parameters } = document.paths[path]!.get!;
      const limit = parameters!.find(({ name }) => name === 'limit');
      expect(limit).toMatchObject({
        required: false,
        schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
      });
      expect(parameters!.map(({ name }) => name)).toContain('cursor');
    }
  });

  it('points nowhere that is not there', () => {
    const pointers = [...text.matchAll(/"\$ref": "#\/components\/(\w+)\/(\w+)"/g)];
    expect(pointers.length).toBeGreaterThan(50);
    for (const [, kind, name] of pointers) {
      expect(Object.keys(document.components[kind as 'schemas' | 'responses'])).toContain(name);
    }
  });

  it('is read off classes that lie where the build looks for them', () => {
    const { compilerOptions } = JSON.parse(readFileSync(join(root, 'nest-cli.json'), 'utf8')) as {
      compilerOptions: { plugins: { options: { dtoFileNameSuffix: string[] } }[] };
    };
    const suffixes = compilerOptions.plugins[0]!.options.dtoFileNameSuffix;
    const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !file.startsWith('platform/config/'),
    );
    expect(sources.length).toBeGreaterThan(100);
    const elsewhere = sources.filter(
      (file) =>
        /^ {2}@(Is[A-Z]|Length|Max|Min|Matches)\w*\(/m.test(readFileSync(join(root, 'src', file), 'utf8')) &&
        !suffixes.some((suffix) => file.endsWith(suffix)),
    );
    expect(elsewhere).toEqual([]);
  });
});
