import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('agent_diary')
@Index('agent_diary_live_content', ['orgId', 'agentId', 'contentHash'], { unique: true, where: 'live' })
@Index('agent_diary_agent', ['orgId', 'agentId', 'createdAt', 'id'])
@Index('agent_diary_embedding_model', ['embeddingModel', 'id'], { where: 'live' })
@Index('agent_diary_ttl', ['ttlUntil'], { where: 'ttl_until is not null' })
@Check('agent_diary_kind_check', `kind in ('diary_long', 'diary_short')`)
export class DiaryEntryEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'agent_diary_pkey' })
  id: string;

  @Column('uuid')
  orgId: string;

  @Column('uuid')
  agentId: string;

  @Column('text')
  kind: 'diary_long' | 'diary_short';

  @Column('text')
  content: string;

  @Column('text')
  contentHash: string;

  @Column({ type: 'timestamptz', nullable: true })
  ttlUntil: Date | null;

  @Column('text')
  source: string;

  @Column({ type: 'uuid', nullable: true })
  turnId: string | null;

  @Column({ type: 'text', nullable: true })
  conversationId: string | null;

  @Column('jsonb')
  metadata: Record<string, unknown>;

  /** When the fact was true, as far as is known. */
  @Column('timestamptz')
  observedAt: Date;

  @Column('jsonb')
  sourceTurnIds: string[];

  @Column({ type: 'uuid', nullable: true })
  supersededBy: string | null;

  @Column('boolean')
  live: boolean;

  /** An operator has let the text through as it stands, whatever screening says of it. */
  @Column({ type: 'boolean', default: false })
  operatorReleased: boolean;

  @Column('integer')
  retrievalCount: number;

  @Column({ type: 'timestamptz', nullable: true })
  lastRetrievedAt: Date | null;

  @Column('tsvector')
  search: string;

  @Column('integer')
  searchLength: number;

  @Column({ type: 'vector', nullable: true })
  embedding: number[] | null;

  @Column({ type: 'text', nullable: true })
  embeddingModel: string | null;

  @Column('timestamptz')
  createdAt: Date;

  @Column('timestamptz')
  updatedAt: Date;
}
