import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('episodes')
@Index('episodes_agent', ['orgId', 'agentId', 'startedAt'])
@Index('episodes_turn', ['orgId', 'turnId'])
@Index('episodes_raw', ['orgId', 'agentId', 'endedAt', 'id'], { where: `kind = 'raw'` })
@Index('episodes_embedding_model', ['embeddingModel', 'id'])
@Check('episodes_kind_check', `kind in ('raw', 'compacted')`)
export class EpisodeEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'episodes_pkey' })
  id: string;

  @PrimaryColumn({ type: 'timestamptz', primaryKeyConstraintName: 'episodes_pkey' })
  startedAt: Date;

  @Column('uuid')
  orgId: string;

  @Column('uuid')
  agentId: string;

  @Column('text')
  agentHandle: string;

  @Column('text')
  agentRole: string;

  @Column({ type: 'uuid', nullable: true })
  turnId: string | null;

  @Column({ type: 'text', nullable: true })
  taskId: string | null;

  @Column({ type: 'text', nullable: true })
  conversationId: string | null;

  @Column('text')
  kind: 'raw' | 'compacted';

  @Column('integer')
  count: number;

  @Column('text')
  taskSummary: string;

  @Column('text')
  planSummary: string;

  @Column('text')
  planDecision: string;

  @Column('boolean')
  engaged: boolean;

  @Column('jsonb')
  toolSequence: string[];

  @Column('jsonb')
  skillsUsed: string[];

  @Column('text')
  reviewOutcome: string;

  @Column('timestamptz')
  endedAt: Date;

  @Column('bigint')
  durationMs: string;

  @Column('text')
  workKey: string;

  @Column({ type: 'text', nullable: true })
  commonTaskPattern: string | null;

  @Column({ type: 'text', nullable: true })
  commonOutcome: string | null;

  @Column({ type: 'double precision', nullable: true })
  successRate: number | null;

  @Column('jsonb')
  subjectsInvolved: string[];

  @Column({ type: 'text', nullable: true })
  notablePatterns: string | null;

  @Column('jsonb')
  exemplarTurnIds: string[];

  @Column('boolean')
  isExemplar: boolean;

  @Column({ type: 'uuid', nullable: true })
  consolidatedIntoSkillId: string | null;

  @Column({ type: 'timestamptz', nullable: true })
  consolidatedAt: Date | null;

  @Column('jsonb')
  sourceTurnIds: string[];

  @Column('tsvector')
  search: string;

  @Column('integer')
  searchLength: number;

  @Column({ type: 'text', default: '' })
  opening: string;

  @Column({ type: 'vector', nullable: true })
  embedding: number[] | null;

  @Column({ type: 'text', nullable: true })
  embeddingModel: string | null;

  @Column('timestamptz')
  createdAt: Date;
}
