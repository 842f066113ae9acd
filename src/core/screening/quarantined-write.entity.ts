import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('quarantine')
@Index('quarantine_content', ['orgId', 'agentId', 'kind', 'contentHash'], { unique: true })
@Index('quarantine_org', ['orgId', 'createdAt', 'id'])
export class QuarantinedWriteEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'quarantine_pkey' })
  id: string;

  @Column('uuid')
  orgId: string;

  @Column('uuid')
  agentId: string;

  @Column('text')
  kind: string;

  @Column('text')
  reason: string;

  @Column('text')
  content: string;

  @Column('jsonb')
  payload: unknown;

  /** Equal for writes that an operator would judge alike. */
  @Column('text')
  contentHash: string;

  @Column({ type: 'uuid', nullable: true })
  turnId: string | null;

  @Column('timestamptz')
  createdAt: Date;
}
