import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('memory_refreshes')
@Index('memory_refreshes_age', ['createdAt'])
@Check('memory_refreshes_state_check', '(output is null) = (lease_until is not null)')
export class MemoryRefreshEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'memory_refreshes_pkey' })
  orgId: string;

  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'memory_refreshes_pkey' })
  agentId: string;

  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'memory_refreshes_pkey' })
  turnId: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'memory_refreshes_pkey' })
  hintHash: string;

  /** Null while the answer is being found out. */
  @Column({ type: 'text', nullable: true })
  output: string | null;

  @Column({ type: 'jsonb', nullable: true })
  data: unknown;

  /** Until when the place is reserved; null once there is an answer. */
  @Column({ type: 'timestamptz', nullable: true })
  leaseUntil: Date | null;

  @Column('timestamptz')
  createdAt: Date;
}
