import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('compaction_passes')
export class CompactionPassEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'compaction_passes_pkey' })
  orgId: string;

  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'compaction_passes_pkey' })
  agentId: string;

  @Column({ type: 'timestamptz', nullable: true })
  cursorEndedAt: Date | null;

  @Column({ type: 'uuid', nullable: true })
  cursorId: string | null;

  @Column('boolean')
  wraps: boolean;

  @Column('integer')
  failures: number;

  @Column({ type: 'timestamptz', nullable: true })
  retryAt: Date | null;

  @Column('integer')
  nonTerminalDropped: number;

  @Column('integer')
  consolidatedDropped: number;

  @Column('integer')
  clustersCompacted: number;

  @Column('integer')
  rawReplacedByCompaction: number;

  @Column('integer')
  compactedEvicted: number;
}
