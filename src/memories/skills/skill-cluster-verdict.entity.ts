import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** What was decided about a cluster of turns, so that the model is not asked about it again. */
@Entity('skill_cluster_verdicts')
@Index('skill_cluster_verdicts_fingerprint', ['orgId', 'agentId', 'fingerprint'], { unique: true })
export class SkillClusterVerdictEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'skill_cluster_verdicts_pkey' })
  id: string;

  @Column('uuid')
  orgId: string;

  @Column('uuid')
  agentId: string;

  @Column('text')
  fingerprint: string;

  @Column('jsonb')
  toolSequence: string[];

  @Column('jsonb')
  memberEpisodeIds: string[];

  @Column('jsonb')
  sourceTurnIds: string[];

  @Column('integer')
  memberCount: number;

  @Column('text')
  verdict: string;

  @Column({ type: 'text', nullable: true })
  reason: string | null;

  @Column({ type: 'uuid', nullable: true })
  skillId: string | null;

  @Column('timestamptz')
  createdAt: Date;

  @Column('timestamptz')
  decidedAt: Date;
}
