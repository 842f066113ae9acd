import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** One cluster of siblings' skills that was looked at, with the draft that came of it. */
@Entity('promotions')
@Index('promotions_unit', ['orgId', 'unit'])
@Check('promotions_state_check', `state in ('refused', 'quarantined', 'drafted', 'published')`)
@Check('promotions_draft_check', `state = 'refused' or (name is not null and content is not null)`)
@Check('promotions_page_check', `(state = 'published') = (page_id is not null)`)
export class PromotionEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'promotions_pkey' })
  id: string;

  @Column('uuid')
  orgId: string;

  /** Name of the unit whose members these are. */
  @Column('text')
  unit: string;

  /** All that were ever in the cluster; of a refused one those that the model was asked about. */
  @Column('jsonb')
  memberSkillIds: string[];

  @Column('jsonb')
  sourceTurnIds: string[];

  /** When it was decided on, as `distinct_agents`. */
  @Column('integer')
  siblingCount: number;

  @Column('integer')
  distinctAgents: number;

  /** Of the agent on whose account the model was asked. */
  @Column('text')
  role: string;

  @Column('text')
  state: string;

  /** The rule that refused the draft, or why it is in quarantine; null where the model saw nothing to share. */
  @Column({ type: 'text', nullable: true })
  reason: string | null;

  @Column({ type: 'text', nullable: true })
  name: string | null;

  /** The draft in Markdown, as it is written to whatever backend there is. */
  @Column({ type: 'text', nullable: true })
  content: string | null;

  /** How often its page could not be written. */
  @Column('integer')
  attempts: number;

  @Column({ type: 'text', nullable: true })
  lastError: string | null;

  @Column({ type: 'text', nullable: true })
  backend: string | null;

  @Column({ type: 'text', nullable: true })
  containerKey: string | null;

  @Column({ type: 'text', nullable: true })
  pageId: string | null;

  @Column({ type: 'text', nullable: true })
  pageTitle: string | null;

  @Column('timestamptz')
  createdAt: Date;

  @Column('timestamptz')
  updatedAt: Date;

  @Column({ type: 'timestamptz', nullable: true })
  publishedAt: Date | null;
}
