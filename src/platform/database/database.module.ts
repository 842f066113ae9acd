import {
  Global,
  Inject,
  Injectable,
  Module,
  type DynamicModule,
  type InjectionToken,
  type OnApplicationShutdown,
  type OptionalFactoryDependency,
  type Provider,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DatabaseConnection } from './connection.js';
import { Database } from './database.js';
import { startDatabase, type DatabaseOptions, type StartedDatabase } from './start-database.js';

const OPTIONS = Symbol('database options');
const STARTED = Symbol('started database');

export interface DatabaseAsyncOptions<Dependencies extends unknown[]> {
  /** Modules that export what is injected, where they are not global. */
  imports?: DynamicModule['imports'];
  inject: (InjectionToken | OptionalFactoryDependency)[];
  useFactory: (...dependencies: Dependencies) => DatabaseOptions | Promise<DatabaseOptions>;
}

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
    return this.with({ provide: OPTIONS, useValue: options });
  }

  static forRootAsync<Dependencies extends unknown[]>(options: DatabaseAsyncOptions<Dependencies>): DynamicModule {
    return {
      ...this.with({ provide: OPTIONS, inject: options.inject, useFactory: options.useFactory }),
      imports: options.imports ?? [],
    };
  }

  private static with(options: Provider): DynamicModule {
    return {
      module: DatabaseModule,
      providers: [
        options,
        { provide: STARTED, inject: [OPTIONS], useFactory: startDatabase },
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
