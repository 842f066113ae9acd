import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('memory_refreshes')
@Index('memory_refreshes_age', ['createdAt'])
export class MemoryRefreshEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'memory_refreshes_pkey' })
  orgId: string;

  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'memory_refreshes_pkey' })
  agentId: string;

  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'memory_refreshes_pkey' })
  turnId: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'memory_refreshes_pkey' })
  hintHash: string;

  @Column('text')
  output: string;

  @Column('jsonb')
  data: unknown;

  @Column('timestamptz')
  createdAt: Date;
}
