import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ShutdownSignal } from '../src/platform/http/shutdown-signal.js';
import { startApp, type TestApp } from './support/app.js';
import { expectProblem } from './support/problem.js';
import { serviceDatabase, ServiceProcess } from './support/service-process.js';

const BODY_AWAITED =
  'POST /turns HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{';
const HALF_HEADER = 'GET /agents HTTP/1.1\r\nhost: local';

const sockets: Socket[] = [];
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

/** A connection on which `sent` was written; all that comes back once it has ended. */
async function connection(port: number, sent: string): Promise<{ socket: Socket; answer: Promise<string> }> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  let text = '';
  socket.setEncoding('utf8').on('data', (data) => (text += String(data)));
  const answer = new Promise<string>((resolve) => socket.on('error', () => undefined).on('close', () => resolve(text)));
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(sent);
  return { socket, answer };
}

describe('SIGTERM', () => {
  let service: ServiceProcess | undefined;
  let database: Awaited<ReturnType<typeof serviceDatabase>>;
  beforeAll(async () => {
    database = await serviceDatabase();
  });
  afterAll(async () => {
    await service?.end('SIGKILL');
    await database.remove();
  });

  it('ends the process with 0, whatever clients hold open, and refuses what they ask meanwhile', async () => {
    service = await ServiceProcess.start(database.env);
    const port = Number(new URL(service.url).port);
    const held = await Promise.all(['', HALF_HEADER, BODY_AWAITED].map((sent) => connection(port, sent)));
    const kept = await connection(port, HALF_HEADER);
    await delay(200);
    const signalled = Date.now();
    const ended = service.end('SIGTERM');
    await delay(500);
    kept.socket.write('host\r\n\r\n');
    const refusal = await kept.answer;
    expect(refusal).toMatch(/^HTTP\/1.1 503 /);
    expect(refusal).toMatch(/\r\ncontent-type: application\/problem\+json/i);
    expect(refusal).toMatch(/\r\nconnection: close\r\n/i);
    expect(JSON.parse(refusal.slice(refusal.indexOf('\r\n\r\n')))).toMatchObject({
      status: 503,
      code: 'service.stopping',
    });
    expect(await ended).toBe(0);
    expect(Date.now() - signalled).toBeLessThan(11_000);
    await Promise.all(held.map(({ answer }) => answer));
  }, 60_000);
});

describe('the HTTP server', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startApp();
  });
  afterAll(() => test.close());

  it('waits for a request half a minute, and no longer', async () => {
    const server = test.app.getHttpServer();
    expect([server.requestTimeout, server.headersTimeout]).toEqual([30_000, 30_000]);
    [server.requestTimeout, server.headersTimeout] = [100, 100];
    const { port } = server.address() as AddressInfo;
    const held = await Promise.all([BODY_AWAITED, HALF_HEADER, ''].map((sent) => connection(port, sent)));
    for (const { answer } of held) expect(await answer).toContain('"code":"request.timeout"');
    [server.requestTimeout, server.headersTimeout] = [30_000, 30_000];
  });

  it('refuses every request once the service stops', async () => {
    test.app.get(ShutdownSignal).abort();
    for (const path of ['/agents', '/health/ready', '/nowhere']) {
      const response = await test.http.get(path);
      expectProblem(response, 503, 'service.stopping');
      expect(response.headers.connection).toBe('close');
    }
    expectProblem(await test.http.post('/turns').send({}), 503, 'service.stopping');
  });
});
