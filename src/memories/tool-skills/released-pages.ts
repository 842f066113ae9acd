import { Injectable, type OnModuleInit } from '@nestjs/common';
import { QuarantinedWrites } from '../../core/screening/quarantined-writes.js';
import type { HeldWrite, QuarantinedWrite } from '../../core/turn/extension-points.js';
import { Database } from '../../platform/database/database.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { PagePlace } from './page-skills.models.js';
import type { ToolSkill } from './tool-skill.models.js';

export const PAGE_WRITE_KIND = 'tool_skill_page';

/** A page that screening flagged, as it read then. */
export interface HeldPage extends PagePlace {
  pageId: string;
  contentHash: string;
  skill: ToolSkill;
}

/** How a flagged page comes into force once an operator has released it. */
@Injectable()
export class ReleasedPages implements QuarantinedWrite, OnModuleInit {
  readonly kind = PAGE_WRITE_KIND;

  constructor(
    private readonly database: Database,
    private readonly held: QuarantinedWrites,
  ) {}

  onModuleInit(): void {
    this.held.register(this);
  }

  /** @throws ApiError 409 `quarantine.stale` where the page is gone or reads otherwise by now */
  async apply({ orgId, payload }: HeldWrite): Promise<void> {
    const { source, place, pageId, contentHash, skill } = payload as HeldPage;
    const rows = await this.database.query(
      `update tool_skill_pages set skill = $6::jsonb, problem = null, released_hash = $5, updated_at = $7
       where org_id = $1 and source = $2 and place = $3 and page_id = $4 and content_hash = $5
       returning page_id`,
      [orgId, source, place, pageId, contentHash, JSON.stringify(skill), new Date()],
    );
    if (rows.length > 0) return;
    const detail = 'The page is gone, or reads otherwise by now. Discard this one; what it says now is judged anew.';
    throw new ApiError(409, 'quarantine.stale', detail);
  }
}
