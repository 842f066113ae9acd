import { Logger } from '@nestjs/common';
import type { PoolConfig } from 'pg';
import { DataSource } from 'typeorm';
import { migrations } from '../../../migrations/index.js';
import { SnakeNaming } from './snake-naming.js';

/** A class that maps one table. */
export type EntityClass = new () => object;

export interface DataSourceInput {
  poolConfig: Readonly<PoolConfig>;
  entities: readonly EntityClass[];
  /** @default 10 */
  poolSize?: number;
}

/** A server that went silent must not keep a request for ever; longer than any index takes to be built. */
const QUERY_TIMEOUT_MS = 300_000;

/** The DataSource of the service, on either database. The schema is the migrations' alone: nothing is synchronised. */
export function createDataSource(input: DataSourceInput): DataSource {
  const log = new Logger('Database');
  return new DataSource({
    type: 'postgres',
    entities: [...input.entities],
    migrations,
    migrationsTransactionMode: 'each',
    namingStrategy: new SnakeNaming(),
    synchronize: false,
    installExtensions: false,
    uuidExtension: 'pgcrypto',
    applicationName: 'agent-learning',
    poolSize: input.poolSize ?? 10,
    // An idle connection that breaks is replaced at the next query.
    poolErrorHandler: (error: unknown) => log.warn(`an idle connection failed: ${String(error)}`),
    extra: { query_timeout: QUERY_TIMEOUT_MS, ...input.poolConfig },
  });
}
