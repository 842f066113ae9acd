import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which memories an operator has let through although screening flags them: these alone may be rendered as they stand. */
export class ReleasedMemories1764775000000 implements MigrationInterface {
  name = 'ReleasedMemories1764775000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table agent_diary add column operator_released boolean not null default false`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table agent_diary drop column operator_released`);
  }
}
