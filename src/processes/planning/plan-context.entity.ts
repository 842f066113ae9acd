import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('plan_contexts')
@Index('plan_contexts_age', ['frozenAt'])
export class PlanContextEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'plan_contexts_pkey' })
  orgId: string;

  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'plan_contexts_pkey' })
  agentId: string;

  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'plan_contexts_pkey' })
  turnId: string;

  @Column('text')
  role: string;

  @Column('jsonb')
  request: unknown;

  @Column('text')
  rendered: string;

  @Column('jsonb')
  shown: unknown;

  @Column({ type: 'text', nullable: true })
  conversationId: string | null;

  @Column({ type: 'text', nullable: true })
  traceId: string | null;

  @Column({ type: 'text', nullable: true })
  spanId: string | null;

  @Column('timestamptz')
  frozenAt: Date;
}
