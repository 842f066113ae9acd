import { createHash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Screening } from '../../core/screening/screening.js';
import { Database } from '../../platform/database/database.js';
import { SERVICE_ORG } from '../../platform/jobs/job.models.js';
import { readSkillFile } from './tool-skill.format.js';
import { MAX_SKILLS, type SourcedSkill, type ToolSkill } from './tool-skill.models.js';

/** Where pages stand: the children of one page. */
export interface PagePlace {
  source: 'confluence' | 'plane';
  /** Space or project, and the title of the page above. */
  place: string;
}

export interface SkillPage {
  id: string;
  /** The skill file that the page holds. */
  text: string;
}

interface PageRow {
  page_id: string;
  skill: ToolSkill | null;
  content_hash: string;
  problem: string | null;
}

interface ReadPage extends SkillPage {
  skill: ToolSkill | null;
  problem: string | null;
}

/**
 * The last good copies of the knowledge-base pages that hold tool skills. They are rows: they hold across restarts,
 * replicas and outages of the knowledge base. The pages are those of learning.yaml, so they serve every organisation.
 */
@Injectable()
export class PageSkills {
  private readonly log = new Logger(PageSkills.name);

  constructor(
    private readonly database: Database,
    private readonly screening: Screening,
  ) {}

  /** In the order of the pages' ids, so that of two pages with one key the first holds. */
  async all({ source, place }: PagePlace): Promise<SourcedSkill[]> {
    const rows = await this.database.query<{ page_id: string; skill: ToolSkill; updated_at: Date }>(
      `select page_id, skill, updated_at from tool_skill_pages
       where org_id = $1 and source = $2 and place = $3 and skill is not null
       order by page_id collate "C" limit $4`,
      [SERVICE_ORG, source, place, MAX_SKILLS],
    );
    return rows.map(({ page_id: origin, skill, updated_at: updatedAt }) => ({
      ...skill,
      source,
      origin,
      released: false,
      updatedAt,
    }));
  }

  /**
   * Takes over all the pages of a place as they are now. A page that is no skill keeps its last good copy and is told
   * once, by its id; one that is gone takes its copy with it, and so does the whole of another place.
   */
  async replace(at: PagePlace, pages: readonly SkillPage[]): Promise<void> {
    const read = this.read([...pages].sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, MAX_SKILLS));
    const known = await this.database.transaction(async () => {
      const before = await this.rows(at);
      await this.database.query(
        `delete from tool_skill_pages where org_id = $1 and source = $2
           and (place <> $3 or page_id <> all (select jsonb_array_elements_text($4::jsonb)))`,
        [SERVICE_ORG, at.source, at.place, JSON.stringify(read.map(({ id }) => id))],
      );
      for (const page of read) await this.write(at, page);
      return before;
    });
    for (const page of read) this.tell(at, page, known.get(page.id));
    if (pages.length > read.length && known.size < read.length) {
      this.log.warn(`${at.source} holds ${pages.length} pages of tool skills; the first ${read.length} are read`);
    }
  }

  private read(pages: readonly SkillPage[]): ReadPage[] {
    const owners = new Map<string, string>();
    return pages.map((page) => {
      const { skill, problem } = readSkillFile(page.text);
      if (!skill) return { ...page, skill, problem };
      const verdict = this.screening.check(skill.title, skill.summary, skill.body);
      if (verdict.flagged) return { ...page, skill: null, problem: verdict.detail };
      const owner = owners.get(skill.key);
      if (owner !== undefined)
        return { ...page, skill, problem: `has the key ${skill.key} of page ${owner}, which holds` };
      owners.set(skill.key, page.id);
      return { ...page, skill, problem: null };
    });
  }

  private async rows({ source, place }: PagePlace): Promise<Map<string, PageRow>> {
    const rows = await this.database.query<PageRow>(
      `select page_id, skill, content_hash, problem from tool_skill_pages
       where org_id = $1 and source = $2 and place = $3`,
      [SERVICE_ORG, source, place],
    );
    return new Map(rows.map((row) => [row.page_id, row]));
  }

  private async write({ source, place }: PagePlace, page: ReadPage): Promise<void> {
    await this.database.query(
      `insert into tool_skill_pages as known (org_id, source, place, page_id, skill, content_hash, problem, updated_at)
       values ($1, $2, $3, $4, $5::jsonb, $6, $7, $8)
       on conflict (org_id, source, place, page_id) do update set skill = coalesce(excluded.skill, known.skill),
         content_hash = excluded.content_hash, problem = excluded.problem, updated_at = excluded.updated_at
         where (known.content_hash, known.problem, known.skill)
           is distinct from (excluded.content_hash, excluded.problem, coalesce(excluded.skill, known.skill))`,
      [
        SERVICE_ORG,
        source,
        place,
        page.id,
        page.skill && JSON.stringify(page.skill),
        hashOf(page.text),
        page.problem,
        new Date(),
      ],
    );
  }

  private tell({ source }: PagePlace, page: ReadPage, known: PageRow | undefined): void {
    if (page.problem === null) return;
    if (known?.problem === page.problem && known.content_hash === hashOf(page.text)) return;
    const kept = !page.skill && known?.skill ? '; its last good copy stays' : '';
    this.log.warn(`tool skill page ${page.id} of ${source} ${page.problem}${kept}`);
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
