import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('erasures')
@Index('erasures_org', ['orgId', 'agentId', 'position'])
export class ErasureEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'erasures_pkey' })
  id: string;

  @Column('bigint')
  position: string;

  @Column('uuid')
  orgId: string;

  @Column({ type: 'uuid', nullable: true })
  agentId: string | null;

  @Column('timestamptz')
  at: Date;
}
