import { randomUUID } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { QuarantineStore } from '../../core/screening/quarantine.store.js';
import { QuarantinedWrites } from '../../core/screening/quarantined-writes.js';
import { Screening } from '../../core/screening/screening.js';
import type { HeldWrite, QuarantinedWrite } from '../../core/turn/extension-points.js';
import { Database } from '../../platform/database/database.js';
import { keysetList } from '../../platform/http/keyset-list.js';
import type { Page, PageRequest } from '../../platform/http/page.js';

export const recommendationStatuses = ['open', 'done', 'dismissed'] as const;
export type RecommendationStatus = (typeof recommendationStatuses)[number];

export interface DocRecommendation {
  id: string;
  content: string;
  target_hint: string | null;
  rationale: string | null;
  turn_id: string | null;
  status: RecommendationStatus;
  created_at: string;
}

export interface RecommendationDraft {
  orgId: string;
  agentId: string;
  turnId: string;
  content: string;
  targetHint: string | null;
  rationale: string | null;
}

export interface ScreenedRecommendation {
  draft: RecommendationDraft;
  /** Why it is not filed before an operator has seen it; null where it is. */
  flag: string | null;
}

interface RecommendationRow extends Omit<DocRecommendation, 'created_at'> {
  created_at: Date;
}

const COLUMNS = 'id, content, target_hint, rationale, turn_id, status, created_at';

/** The DOC tier: what the whole team should be able to read, for people to act on. It never becomes a memory by itself. */
@Injectable()
export class DocRecommendations implements QuarantinedWrite, OnModuleInit {
  readonly kind = 'doc_recommendation';

  constructor(
    private readonly database: Database,
    private readonly screening: Screening,
    private readonly quarantine: QuarantineStore,
    private readonly held: QuarantinedWrites,
  ) {}

  onModuleInit(): void {
    this.held.register(this);
  }

  screen(draft: RecommendationDraft): ScreenedRecommendation {
    const verdict = this.screening.check(draft.content, draft.targetHint ?? '', draft.rationale ?? '');
    return { draft, flag: verdict.flagged ? verdict.reason : null };
  }

  /** Files a recommendation, or holds it where it is flagged; joins the running transaction. */
  async propose({ draft, flag }: ScreenedRecommendation): Promise<void> {
    if (flag === null) {
      await this.add(draft);
      return;
    }
    const { orgId, agentId, turnId, content, targetHint, rationale } = draft;
    await this.quarantine.hold({
      orgId,
      agentId,
      turnId,
      kind: this.kind,
      reason: flag,
      content: [content, targetHint && `Target: ${targetHint}`, rationale && `Rationale: ${rationale}`]
        .filter(Boolean)
        .join('\n\n'),
      payload: draft,
      sameness: { content, targetHint, rationale },
    });
  }

  async apply({ payload }: HeldWrite): Promise<void> {
    await this.add(payload as RecommendationDraft);
  }

  /** Newest first. */
  list(
    orgId: string,
    agentId: string,
    request: PageRequest & { status?: RecommendationStatus },
  ): Promise<Page<DocRecommendation>> {
    return keysetList<RecommendationRow, DocRecommendation>(this.database, {
      columns: COLUMNS,
      from: 'doc_recommendations',
      filter: 'org_id = $1 and agent_id = $2 and ($3::text is null or status = $3)',
      parameters: [orgId, agentId, request.status ?? null],
      time: 'created_at',
      request,
      position: (row) => [row.created_at, row.id],
      view: viewOf,
    });
  }

  async setStatus(
    recommendation: { orgId: string; agentId: string; id: string },
    status: RecommendationStatus,
  ): Promise<DocRecommendation | null> {
    const [row] = await this.database.query<RecommendationRow>(
      `update doc_recommendations set status = $4 where org_id = $1 and agent_id = $2 and id = $3 returning ${COLUMNS}`,
      [recommendation.orgId, recommendation.agentId, recommendation.id, status],
    );
    return row ? viewOf(row) : null;
  }

  private async add(recommendation: RecommendationDraft): Promise<void> {
    await this.database.query(
      `insert into doc_recommendations (id, org_id, agent_id, content, target_hint, rationale, turn_id, source_turn_ids,
         status, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, 'open', $9)`,
      [
        randomUUID(),
        recommendation.orgId,
        recommendation.agentId,
        recommendation.content,
        recommendation.targetHint,
        recommendation.rationale,
        recommendation.turnId,
        JSON.stringify([recommendation.turnId]),
        new Date(),
      ],
    );
  }
}

function viewOf(row: RecommendationRow): DocRecommendation {
  return { ...row, created_at: row.created_at.toISOString() };
}
