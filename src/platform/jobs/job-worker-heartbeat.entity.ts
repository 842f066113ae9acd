import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('job_worker_heartbeats')
export class JobWorkerHeartbeatEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'job_worker_heartbeats_pkey' })
  workerId: string;

  @Column('timestamptz')
  seenAt: Date;
}
