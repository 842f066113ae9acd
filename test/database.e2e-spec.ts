import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { JobWorkerHeartbeatEntity } from '../src/platform/jobs/job-worker-heartbeat.entity.js';
import { testDatabase, type TestDatabase } from './support/database.js';

const PAST = /^a query was sent past the running transaction/;

describe('Database', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await testDatabase();
  });
  beforeEach(() => db.reset());
  afterAll(() => db.close());

  const insert = (id: string): Promise<unknown[]> =>
    db.database.query('insert into job_worker_heartbeats (worker_id, seen_at) values ($1, $2)', [id, new Date(0)]);
  const stored = async (): Promise<string[]> => {
    const rows = await db.database.query<{ worker_id: string }>(
      'select worker_id from job_worker_heartbeats order by 1',
    );
    return rows.map(({ worker_id: id }) => id);
  };

  it('answers with rows, also those that an insert, update or delete returns', async () => {
    const returning = 'returning worker_id, seen_at';
    const row = { worker_id: 'a', seen_at: new Date(0) };
    expect(await db.database.query(`insert into job_worker_heartbeats values ('a', 'epoch') ${returning}`)).toEqual([
      row,
    ]);
    expect(await db.database.query(`update job_worker_heartbeats set worker_id = 'a' ${returning}`)).toEqual([row]);
    expect(await db.database.query(`delete from job_worker_heartbeats ${returning}`)).toEqual([row]);
    expect(await db.database.query('delete from job_worker_heartbeats')).toEqual([]);
  });

  it('commits what every joined step wrote, and rolls it back together', async () => {
    await db.database.transaction(async () => {
      await insert('a');
      await db.database.transaction(() => insert('b'));
    });
    const failing = db.database.transaction(async () => {
      await insert('c');
      await db.database.transaction(() => insert('d'));
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await stored()).toEqual(['a', 'b']);
  });

  it('keeps transactions that run at once apart', async () => {
    const each = Array.from({ length: 8 }, (_, index) =>
      db.database.transaction(async () => {
        await insert(`t${index}`);
        await new Promise((resolve) => setImmediate(resolve));
        if (index % 2) throw new Error('odd');
      }),
    );
    await Promise.allSettled(each);
    expect(await stored()).toEqual(['t0', 't2', 't4', 't6']);
  });

  it('refuses a query that is sent past the running transaction, and only then', async () => {
    const { dataSource, database } = db;
    await database.transaction(async () => {
      await expect(dataSource.query('select 1')).rejects.toThrow(PAST);
      await expect(dataSource.transaction(async () => undefined)).rejects.toThrow(PAST);
      await expect(dataSource.getRepository(JobWorkerHeartbeatEntity).find()).rejects.toThrow(PAST);
      await expect(database.manager.getRepository(JobWorkerHeartbeatEntity).find()).resolves.toEqual([]);
    });
    await expect(dataSource.query('select 1 as one')).resolves.toEqual([{ one: 1 }]);
  });

  it('is usable again after a statement failed', async () => {
    for (let i = 0; i < 12; i++) {
      await expect(db.database.transaction(() => db.database.query('select 1/0'))).rejects.toThrow('division by zero');
    }
    expect(await db.database.query('select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('knows whether a transaction runs, and forbids calls to others inside one', async () => {
    const { database } = db;
    expect(database.inTransaction).toBe(false);
    expect(() => database.assertNoTransaction('a model call')).not.toThrow();
    await database.transaction(async () => {
      expect(database.inTransaction).toBe(true);
      expect(() => database.assertNoTransaction('a model call')).toThrow(
        'a model call must not be made inside a transaction',
      );
    });
    expect(database.inTransaction).toBe(false);
  });

  it('limits time by SET LOCAL, which ends with its transaction', async () => {
    const lockTimeout = (): Promise<unknown[]> => db.database.query(`select current_setting('lock_timeout') as limit`);
    const before = await lockTimeout();
    await db.database.transaction(async () => {
      await db.database.query(`set local lock_timeout = '1234ms'`);
      expect(await lockTimeout()).toEqual([{ limit: '1234ms' }]);
    });
    expect(await lockTimeout()).toEqual(before);
  });

  describe('afterCommit', () => {
    it('runs once what was written can be seen by others, outside the transaction, in order', async () => {
      const seen: unknown[] = [];
      await db.database.transaction(async () => {
        db.database.afterCommit(async () => {
          seen.push(
            'first',
            db.database.inTransaction,
            await db.dataSource.query('select worker_id from job_worker_heartbeats'),
          );
        });
        await db.database.transaction(async () => {
          db.database.afterCommit(() => void seen.push('second'));
        });
        await insert('a');
        expect(seen).toEqual([]);
      });
      expect(seen).toEqual(['first', false, [{ worker_id: 'a' }], 'second']);
    });

    it('runs nothing of a transaction that is rolled back', async () => {
      const effect = jest.fn<() => void>();
      const failing = db.database.transaction(async () => {
        db.database.afterCommit(effect);
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      expect(effect).not.toHaveBeenCalled();
    });

    it('runs nothing where the commit itself fails', async () => {
      const effect = jest.fn<() => void>();
      await db.database.query(`create table deferred_check (id int unique deferrable initially deferred)`);
      try {
        const failing = db.database.transaction(async () => {
          db.database.afterCommit(effect);
          await db.database.query('insert into deferred_check values (1), (1)');
        });
        await expect(failing).rejects.toThrow('duplicate key');
        expect(effect).not.toHaveBeenCalled();
      } finally {
        await db.database.query('drop table deferred_check');
      }
    });

    it('runs at once where no transaction runs', () => {
      const effect = jest.fn<() => void>();
      db.database.afterCommit(effect);
      expect(effect).toHaveBeenCalledTimes(1);
    });

    it('that fails is logged, and harms neither the caller nor the effects behind it', async () => {
      const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
      const behind = jest.fn<() => void>();
      try {
        await db.database.transaction(async () => {
          db.database.afterCommit(() => Promise.reject(new Error('boom')));
          db.database.afterCommit(behind);
        });
        db.database.afterCommit(() => {
          throw new Error('boom');
        });
        expect(behind).toHaveBeenCalledTimes(1);
        expect(warn.mock.calls.map(([message]) => String(message))).toEqual([
          expect.stringContaining('boom'),
          expect.stringContaining('boom'),
        ]);
      } finally {
        warn.mockRestore();
      }
    });
  });
});
