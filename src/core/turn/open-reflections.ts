import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';

const OPEN = `reflection_status in ('pending', 'running', 'retrying')`;

/** SQL: whether a reflection on the turn of the table `row` is still to come or under way. */
export function reflectionOpenSql(row: string): string {
  return `exists (select from turns where turns.org_id = ${row}.org_id and turns.turn_id = ${row}.turn_id and ${OPEN})`;
}

/** Whether all has been learned of turns that was to be learned: what they left may then be summed up. */
@Injectable()
export class OpenReflections {
  constructor(private readonly database: Database) {}

  /**
   * Holds the turns until the running transaction ends, so that no reflection on them begins; false where one is to
   * come or under way. A turn that is not stored has none.
   */
  async noneOf(orgId: string, turnIds: readonly string[]): Promise<boolean> {
    const rows = await this.database.query<{ open: boolean }>(
      `select ${OPEN} as open from turns where org_id = $1 and turn_id = any($2::uuid[]) order by turn_id for share`,
      [orgId, turnIds],
    );
    return rows.every(({ open }) => !open);
  }
}
