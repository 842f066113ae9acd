import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('turns')
@Index('turns_done_work_key', ['orgId', 'agentId', 'workKey'], {
  unique: true,
  where: `review_outcome = 'done' and work_key <> ''`,
})
@Index('turns_with_body', ['reflectionEndedAt'], { where: 'body is not null' })
export class TurnEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'turns_pkey' })
  orgId: string;

  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'turns_pkey' })
  turnId: string;

  @Column('uuid')
  agentId: string;

  @Column('uuid')
  episodeId: string;

  @Column('text')
  role: string;

  @Column('text')
  workKey: string;

  @Column('text')
  contentHash: string;

  @Column({ type: 'text', nullable: true })
  conversationId: string | null;

  @Column({ type: 'jsonb', nullable: true })
  body: unknown;

  @Column('text')
  reviewOutcome: string;

  @Column('timestamptz')
  startedAt: Date;

  @Column('timestamptz')
  endedAt: Date;

  @Column('timestamptz')
  receivedAt: Date;

  @Column({ type: 'text', nullable: true })
  traceId: string | null;

  @Column({ type: 'text', nullable: true })
  spanId: string | null;

  @Column('text')
  reflectionStatus: string;

  @Column({ type: 'text', nullable: true })
  reflectionReason: string | null;

  @Column({ type: 'timestamptz', nullable: true })
  reflectionEndedAt: Date | null;
}
