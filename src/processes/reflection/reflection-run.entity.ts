import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('reflection_runs')
export class ReflectionRunEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'reflection_runs_pkey' })
  orgId: string;

  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'reflection_runs_pkey' })
  turnId: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'reflection_runs_pkey' })
  worker: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'reflection_runs_pkey' })
  part: string;

  @Column('text')
  status: string;

  @Column({ type: 'text', nullable: true })
  reason: string | null;

  @Column('integer')
  attempts: number;

  @Column({ type: 'text', nullable: true })
  error: string | null;

  @Column('boolean')
  settled: boolean;

  @Column('timestamptz')
  updatedAt: Date;
}
