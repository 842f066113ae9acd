import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PersonalDataParts } from '../../core/personal-data/personal-data-parts.js';
import type { ErasureCounts, ErasureScope } from '../../core/personal-data/personal-data.models.js';
import { PersonalTables } from '../../core/personal-data/personal-tables.js';
import { Database } from '../../platform/database/database.js';
import { ReflectionQueue } from './reflection.queue.js';

/** The ledger of reflection, which serves the turns that are here; it is not exported. */
@Injectable()
export class ReflectionPersonalData extends PersonalTables implements OnModuleInit {
  constructor(
    private readonly store: Database,
    private readonly parts: PersonalDataParts,
    private readonly queue: ReflectionQueue,
  ) {
    super(store, [
      {
        name: 'reflection_runs',
        key: { turn_id: 'uuid', worker: 'text', part: 'text' },
        ofAgent: 'turn_id in (select turn_id from turns where org_id = $1 and agent_id = $2)',
        origin: 'turn_id',
        texts: ['error'],
      },
    ]);
  }

  onModuleInit(): void {
    this.parts.register(this);
  }

  /** A reflection under way finds that its turn reads otherwise and ends without a word; the turn is then looked at anew. */
  override async erase(scope: ErasureScope): Promise<ErasureCounts> {
    if ('subject' in scope) {
      const open = await this.store.query<{ turn_id: string; agent_id: string }>(
        `select turn_id, agent_id from turns where org_id = $1 and turn_id = any($2::uuid[])
           and reflection_status in ('pending', 'running', 'retrying')`,
        [scope.orgId, scope.subject.mixedTurnIds],
      );
      for (const { turn_id: turnId, agent_id: agentId } of open) {
        await this.queue.enqueue({ orgId: scope.orgId, agentId, turnId });
      }
    }
    return super.erase(scope);
  }
}
