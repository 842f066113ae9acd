import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** The last good copy of a knowledge-base page. */
@Entity('tool_skill_pages')
@Check('tool_skill_pages_source_check', `source in ('confluence', 'plane')`)
@Check('tool_skill_pages_content_check', 'skill is not null or problem is not null')
export class ToolSkillPageEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'tool_skill_pages_pkey' })
  orgId: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'tool_skill_pages_pkey' })
  source: string;

  /** Space or project, and the page above. */
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'tool_skill_pages_pkey' })
  place: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'tool_skill_pages_pkey' })
  pageId: string;

  /** Null where the page has never been a skill. */
  @Column({ type: 'jsonb', nullable: true })
  skill: unknown;

  /** Of the page as it stands now, good or not. */
  @Column('text')
  contentHash: string;

  /** Why the page as it stands now is not in force; null where it is. */
  @Column({ type: 'text', nullable: true })
  problem: string | null;

  /** Of the content in force, where it was flagged and an operator let it through. */
  @Column({ type: 'text', nullable: true })
  releasedHash: string | null;

  @Column('timestamptz')
  updatedAt: Date;
}
