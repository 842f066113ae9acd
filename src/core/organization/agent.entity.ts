import { Column, Entity, PrimaryColumn, Unique } from 'typeorm';

@Entity('agents')
@Unique('agents_handle_key', ['orgId', 'handle'])
export class AgentEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'agents_pkey' })
  id: string;

  @Column('uuid')
  orgId: string;

  @Column('text')
  handle: string;

  @Column('text')
  role: string;

  @Column({ type: 'text', nullable: true })
  unit: string | null;

  @Column('boolean')
  active: boolean;

  @Column({ type: 'bigint', nullable: true })
  dailyTokenBudget: string | null;

  @Column('jsonb')
  credentials: unknown;

  @Column({ type: 'timestamptz', nullable: true })
  lastTurnAt: Date | null;

  @Column('timestamptz')
  createdAt: Date;
}
