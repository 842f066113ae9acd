import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { keysetList } from '../../platform/http/keyset-list.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { Page, PageRequest } from '../../platform/http/page.js';
import { ownerOf, type SkillAuthor } from './skill-author.js';
import { SkillHistory } from './skill.history.js';
import {
  SKILL_COLUMNS,
  viewOf,
  type SkillOwner,
  type SkillRow,
  type SkillState,
  type SkillVersionView,
  type SkillView,
} from './skill.models.js';
import { SynthesizedSkillStore } from './synthesized-skill.store.js';

/** What is shown of an agent's skills. */
@Injectable()
export class SkillReader {
  constructor(
    private readonly database: Database,
    private readonly store: SynthesizedSkillStore,
    private readonly history: SkillHistory,
  ) {}

  /** The live skill of that name, else the one that was put away last; 404 `skill.not_found`. */
  async get(author: SkillAuthor, name: string): Promise<SkillRow> {
    const skill = await this.store.byName(ownerOf(author), name);
    if (!skill) throw skillNotFound();
    return skill;
  }

  /** The live version first, then the archived ones, newest first. */
  async versions(author: SkillAuthor, name: string, page: PageRequest): Promise<Page<SkillVersionView>> {
    const { id } = await this.get(author, name);
    return this.history.list(ownerOf(author), id, page);
  }

  /** Newest first; of any state where none is given. */
  list(owner: SkillOwner, request: PageRequest & { states?: readonly SkillState[] }): Promise<Page<SkillView>> {
    return keysetList<SkillRow, SkillView>(this.database, {
      columns: SKILL_COLUMNS,
      from: 'synthesized_skills',
      filter: `org_id = $1 and agent_id = $2 and ($3::text[] is null or state = any($3))`,
      parameters: [owner.orgId, owner.agentId, request.states ?? null],
      time: 'created_at',
      request,
      position: (row) => [row.created_at, row.id],
      view: viewOf,
    });
  }

  /** The section of the agent-memory view: archived and rejected ones are left out. */
  section(orgId: string, agentId: string, limit: number): Promise<Page<SkillView>> {
    return this.list({ orgId, agentId }, { limit, states: ['active', 'stale'] });
  }
}

export function skillNotFound(): ApiError {
  return new ApiError(404, 'skill.not_found', 'The agent has no such skill.');
}
