import { Injectable } from '@nestjs/common';
import type { PlanContext, ShownLine } from '../../core/turn/extension-points.js';
import { Database } from '../../platform/database/database.js';

/** A plan context as it was frozen; the role's chain is not part of it, since providers may change. */
export interface StoredPlanContext {
  context: Omit<PlanContext, 'role' | 'agent'> & { roleName: string };
  /** The bytes that were answered, and are answered again. */
  rendered: string;
  shown: ShownLine[];
}

type StoredRequest = Pick<
  PlanContext,
  'taskDescription' | 'interactions' | 'salientText' | 'requiresRecon' | 'availableTools' | 'mcpServers'
>;

interface PlanContextRow {
  org_id: string;
  turn_id: string;
  role: string;
  request: StoredRequest;
  rendered: string;
  shown: ShownLine[];
  conversation_id: string | null;
  trace_id: string | null;
  span_id: string | null;
  frozen_at: Date;
}

/** The plan contexts of turns under way, by agent and turn. */
@Injectable()
export class PlanContextStore {
  constructor(private readonly database: Database) {}

  async find(orgId: string, agentId: string, turnId: string): Promise<StoredPlanContext | null> {
    const [row] = await this.database.query<PlanContextRow>(
      `select * from plan_contexts where org_id = $1 and agent_id = $2 and turn_id = $3`,
      [orgId, agentId, turnId],
    );
    if (!row) return null;
    return {
      context: {
        ...row.request,
        orgId: row.org_id,
        roleName: row.role,
        turnId: row.turn_id,
        conversationId: row.conversation_id,
        traceId: row.trace_id,
        spanId: row.span_id,
        frozenAt: row.frozen_at,
      },
      rendered: row.rendered,
      shown: row.shown,
    };
  }

  /** Stores the bytes of a turn once; false where others were first. */
  async freeze(context: PlanContext, frozen: { rendered: string; shown: readonly ShownLine[] }): Promise<boolean> {
    const request: StoredRequest = {
      taskDescription: context.taskDescription,
      interactions: context.interactions,
      salientText: context.salientText,
      requiresRecon: context.requiresRecon,
      availableTools: context.availableTools,
      mcpServers: context.mcpServers,
    };
    const rows = await this.database.query(
      `insert into plan_contexts (org_id, agent_id, turn_id, role, request, rendered, shown, conversation_id, trace_id,
         span_id, frozen_at)
       values ($1, $2, $3, $4, $5::jsonb, $6, $7::jsonb, $8, $9, $10, $11) on conflict do nothing returning turn_id`,
      [
        context.orgId,
        context.agent.id,
        context.turnId,
        context.role.name,
        JSON.stringify(request),
        frozen.rendered,
        JSON.stringify(frozen.shown),
        context.conversationId,
        context.traceId,
        context.spanId,
        context.frozenAt,
      ],
    );
    return rows.length > 0;
  }

  /** Forgets what was frozen before `before`. Answers how many. */
  async sweep(before: Date): Promise<number> {
    const rows = await this.database.query(`delete from plan_contexts where frozen_at < $1 returning turn_id`, [
      before,
    ]);
    return rows.length;
  }
}
