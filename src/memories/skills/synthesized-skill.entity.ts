import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('synthesized_skills')
@Index('synthesized_skills_live_name', ['orgId', 'agentId', 'name'], {
  unique: true,
  where: `state in ('active', 'stale')`,
})
@Index('synthesized_skills_agent', ['orgId', 'agentId', 'createdAt', 'id'])
@Check('synthesized_skills_origin_check', `origin in ('synthesized', 'operator', 'import')`)
@Check('synthesized_skills_trigger_check', `trigger in ('single_turn', 'clustered')`)
@Check('synthesized_skills_state_check', `state in ('active', 'stale', 'archived', 'rejected')`)
export class SynthesizedSkillEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'synthesized_skills_pkey' })
  id: string;

  @Column('uuid')
  orgId: string;

  @Column('uuid')
  agentId: string;

  @Column('text')
  name: string;

  @Column('text')
  description: string;

  @Column('text')
  content: string;

  @Column('jsonb')
  toolSequence: string[];

  @Column('jsonb')
  sourceEpisodeIds: string[];

  @Column('jsonb')
  sourceTurnIds: string[];

  @Column('text')
  origin: string;

  @Column({ type: 'text', nullable: true })
  trigger: string | null;

  @Column({ type: 'text', nullable: true })
  clusterFingerprint: string | null;

  @Column('boolean')
  operatorEdited: boolean;

  /** An operator has let the text through as it stands, whatever screening says of it. */
  @Column('boolean')
  operatorReleased: boolean;

  @Column('integer')
  version: number;

  /** What made the live version. */
  @Column('text')
  versionKind: string;

  @Column({ type: 'text', nullable: true })
  versionNote: string | null;

  @Column('timestamptz')
  versionAt: Date;

  @Column('text')
  state: string;

  @Column('boolean')
  pinned: boolean;

  @Column({ type: 'timestamptz', nullable: true })
  staleAt: Date | null;

  @Column({ type: 'timestamptz', nullable: true })
  archivedAt: Date | null;

  /** When somebody last made it active again; it ages from then on. */
  @Column({ type: 'timestamptz', nullable: true })
  revivedAt: Date | null;

  @Column('integer')
  useCount: number;

  @Column({ type: 'timestamptz', nullable: true })
  lastUsedAt: Date | null;

  @Column('integer')
  doneCount: number;

  @Column('integer')
  failedCount: number;

  @Column('timestamptz')
  createdAt: Date;

  @Column('timestamptz')
  updatedAt: Date;
}
