import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A reflection that found no slot. */
@Entity('execution_slot_waits')
export class ExecutionSlotWaitEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'execution_slot_waits_pkey' })
  orgId: string;

  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'execution_slot_waits_pkey' })
  turnId: string;

  @Column('text')
  role: string;

  @Column('timestamptz')
  since: Date;

  @Column('timestamptz')
  askedAt: Date;
}
