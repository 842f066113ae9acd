import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How an episode's task begins, as search tokens: rows from before have none and are found by their other words. */
export class EpisodeOpenings1764680000000 implements MigrationInterface {
  name = 'EpisodeOpenings1764680000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table episodes add column opening text not null default ''`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table episodes drop column opening`);
  }
}
