import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ConfluenceClient, type ConfluenceCredentials } from '../src/memories/knowledge/confluence.client.js';
import { CircuitBreaker } from '../src/platform/outbound/circuit-breaker.js';
import { VendorError } from '../src/memories/knowledge/vendor-http.js';
import { basic, ConfluenceServer } from './support/confluence-server.js';
import { LoopbackServer } from './support/loopback-server.js';

const TOKEN = 'secret-token-77';
let cloud: ConfluenceServer;
let dataCenter: ConfluenceServer;

beforeAll(async () => {
  cloud = await ConfluenceServer.start('cloud');
  dataCenter = await ConfluenceServer.start('datacenter');
  cloud.addUser({ authorization: basic('bot@acme.example', TOKEN), views: ['ENG', 'OPS'], writes: ['ENG'] });
  dataCenter.addUser({ authorization: `Bearer ${TOKEN}`, views: ['ENG'] });
});
afterEach(() => {
  cloud.reset();
  dataCenter.reset();
});
afterAll(async () => {
  await cloud.close();
  await dataCenter.close();
});

function clientOf(
  baseUrl: string,
  credentials: ConfluenceCredentials = { username: 'bot@acme.example', apiToken: TOKEN },
  timeoutMs = 5_000,
): ConfluenceClient {
  return new ConfluenceClient({ baseUrl, credentials, timeoutMs });
}

const faultOf = async (call: Promise<unknown>): Promise<VendorError> => {
  const error: unknown = await call.then(() => null).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(VendorError);
  expect(String(error)).not.toContain(TOKEN);
  expect(JSON.stringify(error)).not.toContain(TOKEN);
  return error as VendorError;
};

const CQL = 'space IN ("ENG") AND type = page AND text ~ "deploy"';

describe('the Confluence client', () => {
  it.each([
    ['Cloud, by user and API token', (): ConfluenceClient => clientOf(`${cloud.url}/`), (): ConfluenceServer => cloud],
    [
      'Data Center, by personal token',
      (): ConfluenceClient => clientOf(dataCenter.url, { personalToken: TOKEN }),
      (): ConfluenceServer => dataCenter,
    ],
  ])('searches, finds by title, lists children and makes pages on %s', async (_, client, server) => {
    const parent = server().addPage({ space: 'ENG', title: 'Runbooks' });
    server().addPage({
      space: 'ENG',
      title: 'Deploy',
      body: '<p>How to deploy &amp; roll back</p>',
      parentId: parent.id,
    });
    const { pages } = await client().search({ cql: CQL, limit: 11 });
    expect(pages).toEqual([
      {
        id: expect.any(String),
        title: 'Deploy',
        spaceKey: 'ENG',
        ancestors: ['Runbooks'],
        body: '<p>How to deploy &amp; roll back</p>',
        version: null,
      },
    ]);
    expect(await client().pagesByTitle({ spaceKey: 'ENG', title: 'runbooks' })).toMatchObject([{ id: parent.id }]);
    expect(await client().pagesByTitle({ spaceKey: 'ENG', title: 'Nowhere & "else"' })).toEqual([]);
    expect(await client().childPages({ pageId: parent.id })).toMatchObject([{ title: 'Deploy', version: 1 }]);
    const made = await client().createPage({
      spaceKey: 'ENG',
      title: 'Roll back',
      body: '<p>a &lt; b</p>',
      parentId: parent.id,
    });
    expect(made).toMatchObject({ title: 'Roll back', ancestors: ['Runbooks'] });
    const children = await client().childPages({ pageId: parent.id });
    expect(children.map(({ title }) => title)).toEqual(['Deploy', 'Roll back']);
  });

  it.each([
    ['cursors', (): ConfluenceClient => clientOf(cloud.url), (): ConfluenceServer => cloud],
    [
      'starts',
      (): ConfluenceClient => clientOf(dataCenter.url, { personalToken: TOKEN }),
      (): ConfluenceServer => dataCenter,
    ],
  ])('reads lists to their end, by %s', async (_, client, server) => {
    const parent = server().addPage({ space: 'ENG', title: 'Many' });
    for (let index = 0; index < 117; index += 1) {
      server().addPage({ space: 'ENG', title: `Child ${index}`, body: 'deploy', parentId: parent.id });
    }
    const children = await client().childPages({ pageId: parent.id });
    expect(new Set(children.map(({ id }) => id)).size).toBe(117);
    const first = await client().search({ cql: CQL, limit: 10 });
    const second = await client().search({ cql: CQL, limit: 10, from: first.next! });
    expect(second.pages[0]!.title).toBe('Child 10');
  });

  it('says what a refusal was, and tries it once only', async () => {
    cloud.addPage({ space: 'ENG', title: 'Taken' });
    const make = (spaceKey: string, title: string, body = '<p/>'): Promise<unknown> =>
      clientOf(cloud.url).createPage({ spaceKey, title, body });
    expect(await faultOf(make('ENG', 'taken'))).toMatchObject({ fault: 'refused', status: 400 });
    expect(await faultOf(make('OPS', 'New'))).toMatchObject({ fault: 'refused', status: 403 });
    expect(await faultOf(make('ENG', 'New', '<p>a & b'))).toMatchObject({ fault: 'refused', status: 400 });
    const gone = clientOf(cloud.url).pagesByTitle({ spaceKey: 'NOPE', title: 'x' });
    expect(await faultOf(gone)).toMatchObject({ fault: 'refused', status: 404 });
    const wrong = clientOf(cloud.url, { username: 'bot@acme.example', apiToken: `${TOKEN}-wrong` });
    expect(await faultOf(wrong.search({ cql: CQL, limit: 1 }))).toMatchObject({ fault: 'refused', status: 401 });
    expect(cloud.requests).toHaveLength(5);
  });

  it('waits as long as it is told, and asks again', async () => {
    cloud.addPage({ space: 'ENG', title: 'Deploy' });
    cloud.fail({ status: 429, headers: { 'retry-after': '1' }, times: 1 });
    const { pages } = await clientOf(cloud.url).search({ cql: CQL, limit: 1 });
    expect(pages).toHaveLength(1);
    const [first, second] = cloud.requests;
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(990);
  });

  it('does not wait for longer than it has', async () => {
    cloud.fail({ status: 429, headers: { 'retry-after': '3600' } });
    const fault = await faultOf(clientOf(cloud.url).search({ cql: CQL, limit: 1 }));
    expect(fault).toMatchObject({ fault: 'unavailable', status: 429 });
    expect(cloud.requests).toHaveLength(1);
  });

  it.each([
    ['408', 408],
    ['500', 500],
    ['503', 503],
  ])('gives up a read after three answers of %s', async (_, status) => {
    cloud.fail({ status, body: `<html>${TOKEN}</html>` });
    expect(await faultOf(clientOf(cloud.url).search({ cql: CQL, limit: 1 }))).toMatchObject({
      fault: 'unavailable',
      status,
    });
    expect(cloud.requests).toHaveLength(3);
  });

  it('repeats a write only where the server has not begun it', async () => {
    const make = (): Promise<unknown> =>
      clientOf(cloud.url).createPage({ spaceKey: 'ENG', title: 'Once', body: '<p/>' });
    cloud.fail({ status: 500 });
    await faultOf(make());
    expect(cloud.requests).toHaveLength(1);
    cloud.fail({ status: 429, headers: { 'retry-after': '0' }, times: 1 });
    await make();
    expect(cloud.pages).toHaveLength(1);
  });

  it.each([
    ['prose', 'Good morning'],
    ['nothing', ''],
    ['null', 'null'],
    ['a list', '[]'],
    ['results of another type', '{"results": {"a": 1}}'],
    ['JSON cut off', '{"results": ['],
  ])('takes %s for rubbish', async (_, body) => {
    cloud.fail({ status: 200, body });
    expect(await faultOf(clientOf(cloud.url).search({ cql: CQL, limit: 1 }))).toMatchObject({ fault: 'rubbish' });
  });

  it('reads what can be read of rows with parts missing or of another type', async () => {
    const body = `\uFEFF${JSON.stringify({
      results: [
        null,
        7,
        { id: 1 },
        { id: 12, title: 'N\u0000l', space: 'x', ancestors: 'y', body: [], version: { number: '1' } },
        { id: '13', title: 'Plain', ancestors: [{ title: 7 }, null, { title: 'Up' }], space: { key: {} } },
      ],
      _links: { next: 7 },
    })}`;
    cloud.fail({ status: 200, body });
    const read = await clientOf(cloud.url).search({ cql: CQL, limit: 1 });
    expect(read.pages).toEqual([
      { id: '12', title: 'N\uFFFDl', spaceKey: null, ancestors: null, body: '', version: null },
      { id: '13', title: 'Plain', spaceKey: null, ancestors: ['7', 'Up'], body: '', version: null },
    ]);
    expect(read.next).toBeNull();
  });

  it('ends a silent call at its own time, or the caller’s', async () => {
    cloud.fail({ delayMs: Infinity });
    const own = clientOf(cloud.url, undefined, 50).search({ cql: CQL, limit: 1 });
    expect(await faultOf(own)).toMatchObject({ fault: 'unavailable', status: null });
    const callers = clientOf(cloud.url).search({ cql: CQL, limit: 1, signal: AbortSignal.timeout(50) });
    expect(await faultOf(callers)).toMatchObject({ fault: 'unavailable', status: null });
  });

  it('leaves a server alone that hangs again and again, for all who share it, and no other', async () => {
    const breaker = new CircuitBreaker({ threshold: 2, coolDownMs: 60_000, now: Date.now });
    const credentials = { username: 'bot@acme.example', apiToken: TOKEN };
    const sharing = (timeoutMs: number): ConfluenceClient =>
      new ConfluenceClient({ baseUrl: cloud.url, credentials, timeoutMs, breaker });
    const search = (client: ConfluenceClient): Promise<unknown> => client.search({ cql: CQL, limit: 1 });
    cloud.fail({ delayMs: Infinity });
    for (let count = 0; count < 3; count += 1) await faultOf(search(sharing(50)));
    await faultOf(search(sharing(1_050)));
    cloud.fail({ status: 500 });
    await faultOf(search(sharing(5_000)));
    cloud.fail({ delayMs: Infinity });
    for (let count = 0; count < 2; count += 1) await faultOf(search(sharing(1_050)));
    cloud.reset();
    expect(await faultOf(search(sharing(5_000)))).toMatchObject({ fault: 'unavailable', status: null });
    expect(cloud.requests).toHaveLength(0);
    await search(clientOf(cloud.url));
  });

  it('says so where there is no server, or the credentials cannot be sent', async () => {
    const down = await ConfluenceServer.start();
    await down.close();
    expect(await faultOf(clientOf(down.url).search({ cql: CQL, limit: 1 }))).toMatchObject({
      fault: 'unavailable',
      message: expect.stringContaining('ECONNREFUSED'),
    });
    const odd = clientOf(cloud.url, { personalToken: `${TOKEN}\n\u20AC` });
    expect(await faultOf(odd.search({ cql: CQL, limit: 1 }))).toMatchObject({ fault: 'unavailable' });
  });

  it('follows neither a redirect nor a link to another host', async () => {
    let others = 0;
    const other = await LoopbackServer.start(() => {
      others += 1;
      return { status: 200, body: { results: [] } };
    });
    try {
      cloud.fail({ status: 302, headers: { location: `${other.url}/wiki/rest/api/content` } });
      const away = await faultOf(clientOf(cloud.url).search({ cql: CQL, limit: 1 }));
      expect(away).toMatchObject({ fault: 'refused', status: 302 });
      const link = `${other.url}/rest/api/content/1/child/page?start=50`;
      cloud.fail({ status: 200, body: { results: [], _links: { next: link, base: other.url } }, times: 1 });
      await faultOf(clientOf(cloud.url).childPages({ pageId: '1' }));
      expect(cloud.requests.at(-1)!.path).toContain('/wiki/rest/api/content/1/child/page?');
      expect(others).toBe(0);
    } finally {
      await other.close();
    }
  });

  it('ends where the pages of a list never do', async () => {
    cloud.fail({ status: 200, body: { results: [{ id: 1, title: 'x' }], _links: { next: '/x?cursor=same' } } });
    expect(await clientOf(cloud.url).childPages({ pageId: '1' })).toHaveLength(2);
  });

  it('goes nowhere by an id of dots, and asks first whether it may', async () => {
    for (const pageId of ['.', '..']) {
      expect(await faultOf(clientOf(cloud.url).childPages({ pageId }))).toMatchObject({ fault: 'refused' });
    }
    const beforeCall = (): never => {
      throw new Error('not now');
    };
    const options = { baseUrl: cloud.url, credentials: { personalToken: TOKEN }, timeoutMs: 5_000, beforeCall };
    await expect(new ConfluenceClient(options).childPages({ pageId: '1' })).rejects.toThrow('not now');
    expect(cloud.requests).toEqual([]);
  });

  it('keeps what it is given inside the path and the query', async () => {
    await faultOf(clientOf(cloud.url).childPages({ pageId: '../../../admin?x=#' }));
    expect(cloud.requests.at(-1)!.path).toMatch(
      /^\/wiki\/rest\/api\/content\/\.\.%2F\.\.%2F\.\.%2Fadmin%3Fx%3D%23\/child/,
    );
    await clientOf(cloud.url).search({ cql: 'type = page AND text ~ "C# \ud800 & limit=9"', limit: 1 });
    const { query } = cloud.requests.at(-1)!;
    expect(query.get('cql')).toBe('type = page AND text ~ "C# \uFFFD & limit=9"');
    expect(query.getAll('limit')).toEqual(['1']);
  });
});
