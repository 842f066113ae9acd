import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('doc_recommendations')
@Index('doc_recommendations_agent', ['orgId', 'agentId', 'createdAt', 'id'])
@Check('doc_recommendations_status_check', `status in ('open', 'done', 'dismissed')`)
export class DocRecommendationEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'doc_recommendations_pkey' })
  id: string;

  @Column('uuid')
  orgId: string;

  @Column('uuid')
  agentId: string;

  @Column('text')
  content: string;

  @Column({ type: 'text', nullable: true })
  targetHint: string | null;

  @Column({ type: 'text', nullable: true })
  rationale: string | null;

  @Column({ type: 'uuid', nullable: true })
  turnId: string | null;

  @Column('jsonb')
  sourceTurnIds: string[];

  @Column('text')
  status: 'open' | 'done' | 'dismissed';

  @Column('timestamptz')
  createdAt: Date;
}
