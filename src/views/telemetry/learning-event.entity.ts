import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('learning_events')
@Index('learning_events_position', ['orgId', 'position'])
@Index('learning_events_time', ['orgId', 'occurredAt', 'id'])
@Index('learning_events_agent', ['orgId', 'agentId', 'occurredAt'])
@Index('learning_events_turn', ['orgId', 'turnId'])
@Index('learning_events_age', ['occurredAt'])
export class LearningEventEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'learning_events_pkey' })
  id: string;

  @PrimaryColumn({ type: 'timestamptz', primaryKeyConstraintName: 'learning_events_pkey' })
  occurredAt: Date;

  /** Grows in the order in which events become visible, over all replicas. */
  @Column('bigint')
  position: string;

  @Column('uuid')
  orgId: string;

  @Column('text')
  type: string;

  @Column({ type: 'uuid', nullable: true })
  agentId: string | null;

  @Column({ type: 'text', nullable: true })
  agentHandle: string | null;

  @Column({ type: 'text', nullable: true })
  role: string | null;

  @Column({ type: 'uuid', nullable: true })
  turnId: string | null;

  @Column({ type: 'text', nullable: true })
  traceId: string | null;

  @Column({ type: 'text', nullable: true })
  spanId: string | null;

  @Column('jsonb')
  payload: unknown;
}
