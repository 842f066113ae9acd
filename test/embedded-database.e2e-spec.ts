import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { EmbeddedDatabase } from '../src/platform/database/embedded-database.js';
import { startDatabase } from '../src/platform/database/start-database.js';
import { TestProcess } from './support/child-process.js';
import { migratedTar } from './support/embedded-tars.js';

describe('a directory of the embedded database', () => {
  let parent: string;
  let dataDir: string;
  let temporary: string;
  let options: string;
  const children: TestProcess[] = [];
  const child = (action: string): TestProcess => {
    const started = new TestProcess('database-process.ts', { args: [options, action], env: { TMPDIR: temporary } });
    children.push(started);
    return started;
  };

  beforeAll(async () => {
    parent = mkdtempSync(join(tmpdir(), 'embedded-database-spec-'));
    dataDir = join(parent, 'deep', 'data');
    temporary = mkdtempSync(join(parent, 'tmp-'));
    options = JSON.stringify({ dataDir, embeddedTar: await migratedTar() });
  });
  afterEach(async () => {
    await Promise.all(children.splice(0).map((each) => each.end('SIGKILL')));
  });
  afterAll(() => rmSync(parent, { recursive: true, force: true }));

  it('is made where it is missing, closed to other users', async () => {
    const first = child('start');
    expect(await first.exited).toBe(0);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  });

  it('is held by one process; others are refused with one line that says what to do', async () => {
    const holder = child('stay');
    await holder.wrote(1);
    const others = [child('start'), child('start')];
    expect(await Promise.all(others.map(({ exited }) => exited))).toEqual([1, 1]);
    for (const { lines } of others) {
      expect(lines).toEqual([
        expect.stringMatching(/^the data directory .*data is in use by another process: stop it, /),
      ]);
    }
    expect(await holder.end('SIGTERM')).toBe(0);
    expect(await child('start').exited).toBe(0);
  });

  it('is taken by exactly one of three that start at once', async () => {
    const three = [child('stay'), child('stay'), child('stay')];
    await Promise.all(three.map((each) => each.wrote(1)));
    expect(three.filter(({ lines }) => lines[0] === 'ready')).toHaveLength(1);
  });

  it('keeps every acknowledged row when its process is killed while it writes', async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 2; round++) {
      const writer = child('write');
      await writer.wrote(200);
      await writer.end('SIGKILL');
      acknowledged.push(...writer.lines.slice(1));
    }
    // Of the sockets of the killed, one directory at most is left behind.
    expect(readdirSync(temporary).filter((name) => name.startsWith('agent-learning-'))).toHaveLength(1);
    const { dataSource, stop } = await startDatabase({ dataDir, entities: [] });
    const kept = await dataSource.query<{ worker_id: string }[]>('select worker_id from job_worker_heartbeats');
    await stop();
    expect(acknowledged.length).toBeGreaterThan(390);
    const ids = new Set(kept.map(({ worker_id: id }) => id));
    expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
  });

  it('that is a file, or cannot be made, is refused with one line', async () => {
    writeFileSync(join(parent, 'file'), '');
    for (const unusable of [join(parent, 'file'), join(parent, 'file', 'below'), '/sys/agent-learning']) {
      const start = startDatabase({ dataDir: unusable, entities: [] });
      await expect(start).rejects.toMatchObject({
        name: 'BootError',
        message: expect.stringMatching(
          /^DATA_DIR \S+ cannot be used \(\w+\): name a directory that this user may write/,
        ),
      });
    }
  });

  it('that holds the cluster of another version is refused with one line, and is free afterwards', async () => {
    const broken = mkdtempSync(join(parent, 'broken-'));
    mkdirSync(join(broken, 'postgres'));
    writeFileSync(join(broken, 'postgres', 'PG_VERSION'), '9\n');
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(startDatabase({ dataDir: broken, entities: [] })).rejects.toMatchObject({
        name: 'BootError',
        message: expect.stringMatching(
          /^the embedded database in \S+ did not start \([^\n]+\): restore it from a backup or /,
        ),
      });
    }
  });
});

describe('an embedded database that breaks', () => {
  it('tells so once, instead of letting queries wait for ever', async () => {
    const onFatal = jest.fn<(error: Error) => void>();
    const database = await EmbeddedDatabase.start({ dataDir: 'memory://', tar: await migratedTar(), onFatal });
    const client = new pg.Client(database.poolConfig);
    client.on('error', () => undefined);
    await client.connect();
    // PGlite throws where Postgres wants to run a program.
    void client.query(`copy (select 1) to program 'true'`).catch(() => undefined);
    for (let i = 0; i < 100 && onFatal.mock.calls.length === 0; i++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(onFatal).toHaveBeenCalledTimes(1);
    await database.stop();
    expect(existsSync(String(database.poolConfig.host))).toBe(false);
    await client.end().catch(() => undefined);
  });

  it('ends its process with one line that says so', async () => {
    const options = JSON.stringify({ dataDir: 'memory://', embeddedTar: await migratedTar() });
    const child = new TestProcess('database-process.ts', { args: [options, 'break'], keepErrors: true });
    expect(await child.exited).toBe(1);
    expect(child.errors).toMatch(
      /^The embedded database broke \(Unhandled cmd\) and cannot go on\. [^\n]+ start again\.\n$/,
    );
  });
});
