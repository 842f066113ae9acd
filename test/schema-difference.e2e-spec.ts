import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testDatabase, type TestDatabase } from './support/database.js';

describe('the schema', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await testDatabase();
  });
  afterAll(() => db.close());

  const difference = async (): Promise<string[]> => {
    const { upQueries } = await db.dataSource.driver.createSchemaBuilder().log();
    return upQueries.map(({ query }) => query);
  };

  it('is the one that the entities describe', async () => {
    expect(await difference()).toEqual([]);
  });

  it('has an entity for every table', async () => {
    const tables = await db.database.query<{ name: string }>(
      `select tablename as name from pg_tables
       where schemaname = 'public' and tablename not in ('migrations', 'typeorm_metadata') order by 1`,
    );
    const mapped = db.dataSource.entityMetadatas.map(({ tableName }) => tableName).sort();
    expect(tables.map(({ name }) => name)).toEqual(mapped);
  });

  it('differs visibly where a column is missing', async () => {
    await db.database.query('alter table people drop column display_name');
    try {
      expect(await difference()).toEqual([expect.stringContaining('"display_name"')]);
    } finally {
      await db.database.query('alter table people add column display_name text');
    }
  });
});
