import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** What one turn, or an operator, said of a counterparty. Rows are added and never changed. */
@Entity('counterparty_observations')
@Index('counterparty_observations_profile', ['profileId', 'observedAt', 'id'])
@Check('counterparty_observations_source_check', `source in ('profiler', 'operator', 'import')`)
export class CounterpartyObservationEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'counterparty_observations_pkey' })
  id: string;

  @Column('uuid')
  orgId: string;

  @Column('uuid')
  agentId: string;

  @Column('uuid')
  profileId: string;

  @Column({ type: 'uuid', nullable: true })
  turnId: string | null;

  /** Work key of the turn, else its id: two tries of one piece of work corroborate nothing. */
  @Column({ type: 'text', nullable: true })
  triggerKey: string | null;

  @Column('text')
  source: 'profiler' | 'operator' | 'import';

  @Column('jsonb')
  traits: Record<string, string[]>;

  /** Known values that no longer hold. */
  @Column('jsonb')
  noLonger: Record<string, string[]>;

  @Column('jsonb')
  sourceTurnIds: string[];

  @Column('timestamptz')
  observedAt: Date;

  @Column('timestamptz')
  createdAt: Date;
}
