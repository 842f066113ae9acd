import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable, Logger } from '@nestjs/common';
import { DataSource, EntityManager } from 'typeorm';

const TRANSACTION_ATTEMPTS = 3;
const DEADLOCK_DETECTED = '40P01';

interface RunningTransaction {
  manager: EntityManager | undefined;
  afterCommit: (() => void | Promise<void>)[];
}

/**
 * The one way to the database. A transaction is carried in AsyncLocalStorage, so every store that is called inside
 * `transaction` joins it without being handed anything.
 *
 * The embedded database has one backend for all connections: a query on a second connection would wait for ever
 * for the transaction that awaits it. Such a query therefore throws at once, on every database.
 */
@Injectable()
export class Database {
  private readonly running = new AsyncLocalStorage<RunningTransaction | undefined>();
  private readonly log = new Logger(Database.name);

  constructor(private readonly dataSource: DataSource) {
    const createQueryRunner = dataSource.createQueryRunner.bind(dataSource);
    dataSource.createQueryRunner = (mode) => {
      if (this.running.getStore()?.manager) {
        throw new Error('a query was sent past the running transaction: use Database.query or Database.manager');
      }
      return createQueryRunner(mode);
    };
  }

  /** The manager of the running transaction, else of the pool. */
  get manager(): EntityManager {
    return this.running.getStore()?.manager ?? this.dataSource.manager;
  }

  get inTransaction(): boolean {
    return this.running.getStore() !== undefined;
  }

  /** Runs one statement in the running transaction, else on its own. Errors are the driver's. */
  async query<Row>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    const result: unknown = await this.manager.query(sql, [...parameters]);
    // typeorm answers an UPDATE or DELETE with [rows, count]
    if (Array.isArray(result) && result.length === 2 && Array.isArray(result[0]) && typeof result[1] === 'number') {
      return result[0] as Row[];
    }
    return result as Row[];
  }

  /**
   * Runs `work` in a transaction; joins the one that already runs. Rolls back if it throws. `work` is run again where Postgres
   * ended the transaction to resolve a deadlock, so what it changes outside of the database must bear a repetition.
   */
  async transaction<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.inTransaction) return work();
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.runTransaction(work);
      } catch (error) {
        if (attempt === TRANSACTION_ATTEMPTS || sqlState(error) !== DEADLOCK_DETECTED) throw error;
        this.log.warn(`a deadlock ended a transaction; attempt ${attempt} of ${TRANSACTION_ATTEMPTS}`);
      }
    }
  }

  private async runTransaction<Result>(work: () => Promise<Result>): Promise<Result> {
    const context: RunningTransaction = { manager: undefined, afterCommit: [] };
    const result = await this.running.run(context, () =>
      this.dataSource.transaction((manager) => {
        context.manager = manager;
        return work();
      }),
    );
    for (const effect of context.afterCommit) {
      try {
        await this.running.run(undefined, effect);
      } catch (error) {
        this.log.warn(`an effect after commit failed: ${String(error)}`);
      }
    }
    return result;
  }

  /** Runs `effect` once the running transaction has committed, or at once where none runs. Its failure is logged. */
  afterCommit(effect: () => void | Promise<void>): void {
    const context = this.running.getStore();
    if (context) context.afterCommit.push(effect);
    else void this.settle(effect);
  }

  /** Throws if a transaction runs: no model or HTTP call may be made inside one. */
  assertNoTransaction(what: string): void {
    if (this.inTransaction) throw new Error(`${what} must not be made inside a transaction`);
  }

  private async settle(effect: () => void | Promise<void>): Promise<void> {
    try {
      await effect();
    } catch (error) {
      this.log.warn(`an effect failed: ${String(error)}`);
    }
  }
}

function sqlState(error: unknown): unknown {
  return (error as { driverError?: { code?: unknown } } | null)?.driverError?.code;
}
