import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { EmbeddedDatabase } from '../src/platform/database/embedded-database.js';
import { emptyTar } from './support/embedded-tars.js';

const CONNECTIONS = 12;
const ROUNDS = 100;

/** Whether a query is answered, and not kept waiting by what another connection left behind. */
async function answers(pool: pg.Pool): Promise<boolean> {
  const answer = pool.query<{ x: number }>('select $1::int as x', [7]).then(({ rows }) => rows[0]?.x === 7);
  return Promise.race([answer, new Promise<false>((resolve) => setTimeout(() => resolve(false), 3_000).unref())]);
}

describe('the one backend session of the embedded database', () => {
  let database: EmbeddedDatabase;
  let pool: pg.Pool;

  beforeAll(async () => {
    const onFatal = (error: Error): never => {
      throw error;
    };
    database = await EmbeddedDatabase.start({ dataDir: 'memory://', tar: await emptyTar(), onFatal });
    pool = new pg.Pool({ ...database.poolConfig, max: CONNECTIONS });
    pool.on('error', () => undefined);
    await pool.query('create table counters (id int primary key, n int not null)');
    await pool.query('insert into counters select i, 0 from generate_series(0, 9) i');
  });
  afterAll(async () => {
    await pool.end();
    await database.stop();
  });

  it('gives each connection its own answers and loses no update', async () => {
    const wrong: unknown[] = [];
    let increments = 0;
    const increment = async (id: number): Promise<void> => {
      const client = await pool.connect();
      try {
        await client.query('begin');
        const { rows } = await client.query<{ n: number }>('select n from counters where id = $1 for update', [id]);
        await client.query('update counters set n = $2 where id = $1', [id, (rows[0]?.n ?? 0) + 1]);
        await client.query('commit');
        increments++;
      } finally {
        client.release();
      }
    };
    const load = async (connection: number): Promise<void> => {
      for (let round = 0; round < ROUNDS; round++) {
        const x = connection * 1_000 + round;
        // Two shapes of statement, so that the parameters of one do not fit the other.
        const sql = round % 2 ? 'select $1::int as x, $2::text as y' : 'select $2::text as y, $1::int as x';
        const { rows } = await pool.query<{ x: number; y: string }>(sql, [x, `v${x}`]);
        if (rows[0]?.x !== x || rows[0].y !== `v${x}`) wrong.push({ x, rows });
        if (round % 10 === 0) await increment(round / 10);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, (_, connection) => load(connection)));

    expect(wrong).toEqual([]);
    expect(increments).toBe((CONNECTIONS * ROUNDS) / 10);
    const { rows } = await pool.query<{ n: number }>('select sum(n)::int as n from counters');
    expect(rows[0]?.n).toBe(increments);
  });

  it('is given back by a client that dies inside a transaction', async () => {
    const client = new pg.Client(database.poolConfig);
    client.on('error', () => undefined);
    await client.connect();
    await client.query('begin');
    await client.query('insert into counters values (999, 1)');
    (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();

    expect(await answers(pool)).toBe(true);
    const { rows } = await pool.query('select 1 from counters where id = 999');
    expect(rows).toEqual([]);
  });

  describe('between the messages of one statement', () => {
    const message = (type: string, body: string): Buffer => {
      const content = Buffer.from(body, 'utf8');
      const head = Buffer.alloc(5);
      head.write(type);
      head.writeInt32BE(content.length + 4, 1);
      return Buffer.concat([head, content]);
    };
    const startUp = (): Buffer => {
      const content = Buffer.from('\0\x03\0\0user\0postgres\0database\0postgres\0\0', 'latin1');
      const head = Buffer.alloc(4);
      head.writeInt32BE(content.length + 4);
      return Buffer.concat([head, content]);
    };
    /** Says all of `parts`, each once the one before was answered, and dies. */
    const dieAfter = async (...parts: Buffer[]): Promise<void> => {
      const { host } = database.poolConfig;
      const socket = connect(join(String(host), '.s.PGSQL.5432'));
      for (const part of [startUp(), ...parts]) {
        socket.write(part);
        await new Promise((resolve) => socket.once('data', resolve));
      }
      socket.destroy();
    };
    const parse = (sql: string): Buffer => message('P', `\0${sql}\0\0\0`);

    it('is given back by a client that dies after a Parse', async () => {
      await dieAfter(parse('insert into counters values (998, 1)'));
      expect(await answers(pool)).toBe(true);
    });

    it('is given back by a client that dies after an error, before its Sync', async () => {
      await dieAfter(parse('select no_such_column'));
      expect(await answers(pool)).toBe(true);
    });

    it('is given back, its transaction undone, by a client that dies after an error inside one', async () => {
      await dieAfter(
        message('Q', 'begin\0'),
        message('Q', 'insert into counters values (997, 1)\0'),
        parse('select no_such_column'),
      );
      expect(await answers(pool)).toBe(true);
      const { rows } = await pool.query('select 1 from counters where id = 997');
      expect(rows).toEqual([]);
    });
  });
});
