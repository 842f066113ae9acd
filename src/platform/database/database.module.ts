import { Global, Inject, Injectable, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DatabaseConnection } from './connection.js';
import { Database } from './database.js';
import { startDatabase, type DatabaseOptions, type StartedDatabase } from './start-database.js';

const STARTED = Symbol('started database');

/** Stops the database after everything that uses it: its users stop in `onModuleDestroy` or `beforeApplicationShutdown`. */
@Injectable()
class DatabaseShutdown implements OnApplicationShutdown {
  constructor(@Inject(STARTED) private readonly started: StartedDatabase) {}

  onApplicationShutdown(): Promise<void> {
    return this.started.stop();
  }
}

/** The database, started and migrated before anything that injects `Database`, `DataSource` or `DatabaseConnection`. */
@Global()
@Module({})
export class DatabaseModule {
  static forRoot(options: DatabaseOptions): DynamicModule {
    return {
      module: DatabaseModule,
      providers: [
        { provide: STARTED, useFactory: () => startDatabase(options) },
        { provide: DataSource, inject: [STARTED], useFactory: (started: StartedDatabase) => started.dataSource },
        {
          provide: DatabaseConnection,
          inject: [STARTED],
          useFactory: (started: StartedDatabase) => started.connection,
        },
        Database,
        DatabaseShutdown,
      ],
      exports: [DataSource, DatabaseConnection, Database],
    };
  }
}
