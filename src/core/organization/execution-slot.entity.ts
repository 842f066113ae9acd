import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('execution_slots')
@Index('execution_slots_org', ['orgId', 'role'])
@Check('execution_slots_holder_check', `holder in ('turn', 'reflection')`)
export class ExecutionSlotEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'execution_slots_pkey' })
  id: string;

  @Column('uuid')
  orgId: string;

  @Column('text')
  role: string;

  @Column('text')
  holder: 'turn' | 'reflection';

  /** Of a reflection. */
  @Column({ type: 'uuid', nullable: true })
  turnId: string | null;

  @Column('timestamptz')
  expiresAt: Date;
}
