import type { PoolConfig } from 'pg';

export type DatabaseMode = 'embedded' | 'postgres';

/** How the database is reached, for those who need a pool of their own (the job runner), and what it is. */
export class DatabaseConnection {
  constructor(
    /** `embedded`: one backend session serves all connections, so no prepared statements and no session state. */
    readonly mode: DatabaseMode,
    readonly poolConfig: Readonly<PoolConfig>,
    /** As the server says it, e.g. `17.6 (Debian 17.6-1)`. */
    readonly serverVersion: string,
    /** Whether `episodes` is a TimescaleDB hypertable. */
    readonly hypertable: boolean,
  ) {}
}
