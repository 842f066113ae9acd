import { Injectable, Logger } from '@nestjs/common';
import { QuarantineStore } from '../../core/screening/quarantine.store.js';
import { homeOrganizationName } from '../../platform/auth/authenticator.js';
import { organizationId } from '../../platform/auth/name-based-ids.js';
import { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { judgePages } from './page-judgement.js';
import type { JudgedPage, KnownPage, PagePlace, SkillPage } from './page-skills.models.js';
import { PAGE_WRITE_KIND, type HeldPage } from './released-pages.js';
import { MAX_SKILLS, NO_AGENT, type SourcedSkill, type ToolSkill } from './tool-skill.models.js';

/**
 * The last good copies of the knowledge-base pages that hold tool skills. They are rows: they hold across restarts,
 * replicas and outages of the knowledge base. The pages are read with the credentials of the environment, so they serve
 * the organisation of learning.yaml alone.
 */
@Injectable()
export class PageSkills {
  readonly orgId: string;
  private readonly log = new Logger(PageSkills.name);

  constructor(
    private readonly database: Database,
    private readonly quarantine: QuarantineStore,
    settings: Settings,
  ) {
    this.orgId = organizationId(homeOrganizationName(settings));
  }

  /** In the order of the pages' ids, so that of two pages with one key the first holds. */
  async all(orgId: string, { source, place }: PagePlace): Promise<SourcedSkill[]> {
    if (orgId !== this.orgId) return [];
    const rows = await this.database.query<{ page_id: string; skill: ToolSkill; released: boolean; updated_at: Date }>(
      `select page_id, skill, released_hash is not null as released, updated_at from tool_skill_pages
       where org_id = $1 and source = $2 and place = $3 and skill is not null
       order by page_id collate "C" limit $4`,
      [orgId, source, place, MAX_SKILLS],
    );
    return rows.map(({ page_id: origin, skill, released, updated_at: updatedAt }) => ({
      ...skill,
      source,
      origin,
      released,
      updatedAt,
    }));
  }

  /**
   * Takes over all the pages of a place as they are now. A page that is no skill keeps its last good copy and is told
   * once, by its id; one that is gone takes its copy with it, and so does the whole of another place.
   */
  async replace(at: PagePlace, pages: readonly SkillPage[]): Promise<void> {
    const { judged, known } = await this.database.transaction(async () => {
      const known = await this.known(at);
      const judged = judgePages(pages, known).slice(0, MAX_SKILLS);
      await this.forgetAllBut(at, judged);
      for (const page of judged) await this.write(at, page);
      for (const page of judged) if (isNews(page, known.get(page.id))) await this.hold(at, page);
      return { judged, known };
    });
    for (const page of judged) if (isNews(page, known.get(page.id))) this.tell(at, page, known.get(page.id));
    if (pages.length > MAX_SKILLS && known.size < MAX_SKILLS) {
      this.log.warn(`${at.source} has ${pages.length} pages of tool skills; the first ${MAX_SKILLS} are read`);
    }
  }

  private async known({ source, place }: PagePlace): Promise<Map<string, KnownPage>> {
    const rows = await this.database.query<KnownPage>(
      `select page_id, skill, content_hash, problem, released_hash from tool_skill_pages
       where org_id = $1 and source = $2 and place = $3 for update`,
      [this.orgId, source, place],
    );
    return new Map(rows.map((row) => [row.page_id, row]));
  }

  private async forgetAllBut({ source, place }: PagePlace, pages: readonly JudgedPage[]): Promise<void> {
    await this.database.query(
      `delete from tool_skill_pages where org_id = $1 and source = $2
         and (place <> $3 or page_id not in (select jsonb_array_elements_text($4::jsonb)))`,
      [this.orgId, source, place, JSON.stringify(pages.map(({ id }) => id))],
    );
  }

  private async write({ source, place }: PagePlace, page: JudgedPage): Promise<void> {
    await this.database.query(
      `insert into tool_skill_pages as known
         (org_id, source, place, page_id, skill, content_hash, problem, released_hash, updated_at)
       values ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9)
       on conflict (org_id, source, place, page_id) do update set skill = coalesce(excluded.skill, known.skill),
         content_hash = excluded.content_hash, problem = excluded.problem, updated_at = excluded.updated_at,
         released_hash = case when excluded.skill is null then known.released_hash else excluded.released_hash end
         where (known.content_hash, known.problem) is distinct from (excluded.content_hash, excluded.problem)`,
      [
        this.orgId,
        source,
        place,
        page.id,
        page.skill && JSON.stringify(page.skill),
        page.contentHash,
        page.problem,
        page.releasedHash,
        new Date(),
      ],
    );
  }

  private async hold({ source, place }: PagePlace, { id, contentHash, flagged }: JudgedPage): Promise<void> {
    if (!flagged) return;
    const { reason, skill } = flagged;
    const payload: HeldPage = { source, place, pageId: id, contentHash, skill };
    await this.quarantine.hold({
      orgId: this.orgId,
      agentId: NO_AGENT,
      turnId: null,
      kind: PAGE_WRITE_KIND,
      reason,
      content: `Page ${id} of ${source}, ${skill.key}: ${skill.title}\n${skill.summary}\n\n${skill.body}`,
      payload,
    });
  }

  private tell({ source }: PagePlace, page: JudgedPage, known: KnownPage | undefined): void {
    const kept = !page.skill && known?.skill ? '; its last good copy stays' : '';
    this.log.warn(`tool skill page ${page.id} of ${source} ${page.problem}${kept}`);
  }
}

/** A problem that has not been told of this text yet. */
function isNews(page: JudgedPage, known: KnownPage | undefined): boolean {
  return page.problem !== null && (known?.problem !== page.problem || known.content_hash !== page.contentHash);
}
