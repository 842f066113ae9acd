import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable, Module, type BeforeApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { entities } from '../src/entities.js';
import { DatabaseConnection } from '../src/platform/database/connection.js';
import { Database } from '../src/platform/database/database.js';
import { DatabaseModule } from '../src/platform/database/database.module.js';
import { testConnection } from './support/database.js';
import { migratedTar } from './support/embedded-tars.js';

/** Uses the database until the last moment at which it may. */
@Injectable()
class LateUser implements OnModuleDestroy, BeforeApplicationShutdown {
  readonly answers: unknown[] = [];

  constructor(private readonly database: Database) {}

  async onModuleDestroy(): Promise<void> {
    this.answers.push(...(await this.database.query('select 1 as one')));
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.answers.push(...(await this.database.query('select 2 as two')));
  }
}

@Module({ providers: [LateUser] })
class LateModule {}

describe('DatabaseModule', () => {
  let app: TestingModule | undefined;
  const close = async (): Promise<void> => {
    await app?.close();
    app = undefined;
  };
  afterEach(close);

  it('gives Database, DataSource and DatabaseConnection to every module, and outlives their users', async () => {
    const database = DatabaseModule.forRoot({ ...testConnection(), dataDir: 'memory://', entities });
    app = await Test.createTestingModule({ imports: [LateModule, database] }).compile();
    const dataSource = app.get(DataSource);
    const { mode, poolConfig, serverVersion } = app.get(DatabaseConnection);
    expect(mode).toBe(process.env.DATABASE_URL ? 'postgres' : 'embedded');
    expect(poolConfig.connectionString).toEqual(expect.any(String));
    expect(serverVersion).toMatch(/^1[4-9]/);

    const user = app.get(LateUser);
    await close();
    expect(user.answers).toEqual([{ one: 1 }, { two: 2 }]);
    expect(dataSource.isInitialized).toBe(false);
  });

  it('starts the embedded database itself', async () => {
    const database = DatabaseModule.forRoot({ dataDir: 'memory://', embeddedTar: await migratedTar(), entities });
    app = await Test.createTestingModule({ imports: [LateModule, database] }).compile();
    const { mode, poolConfig, hypertable } = app.get(DatabaseConnection);
    expect({ mode, hypertable }).toEqual({ mode: 'embedded', hypertable: false });
    expect(poolConfig).toMatchObject({ port: 5432, user: 'postgres', ssl: false });
    const user = app.get(LateUser);
    await close();
    expect(user.answers).toEqual([{ one: 1 }, { two: 2 }]);
  });

  it('hands on why the database cannot be used', async () => {
    const database = DatabaseModule.forRoot({ databaseUrl: 'mysql://host/shop', dataDir: 'memory://', entities });
    const compiling = Test.createTestingModule({ imports: [database] }).compile();
    await expect(compiling).rejects.toMatchObject({
      name: 'BootError',
      message: expect.stringContaining('postgresql://'),
    });
  });
});
