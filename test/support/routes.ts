import type TestAgent from 'supertest/lib/agent.js';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

export interface Route {
  method: Method;
  /** As in the OpenAPI document, with `{id}` for a parameter. */
  path: string;
  /** One of JSON. */
  takesBody: boolean;
}

interface Paths {
  paths: Record<string, Partial<Record<Method, { requestBody?: { content?: Record<string, unknown> } }>>>;
}

/** Every route of the OpenAPI document that the service serves. */
export async function servedRoutes(http: TestAgent): Promise<Route[]> {
  const { body } = (await http.get('/openapi.json').expect(200)) as { body: Paths };
  return Object.entries(body.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { requestBody }]) => ({
      method: method as Method,
      path,
      takesBody: requestBody?.content?.['application/json'] !== undefined,
    })),
  );
}

/** The route's address with `values` for its parameters, encoded; any other parameter is a UUID that names nothing. */
export function addressOf({ path }: Route, values: Record<string, string> = {}): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? '00000000-0000-4000-8000-000000000000'),
  );
}
