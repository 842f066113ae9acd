import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** What one agent knows of one counterparty, folded from its observations, which name their source turns. */
@Entity('counterparty_profiles')
@Index('counterparty_profiles_agent', ['orgId', 'agentId', 'createdAt', 'id'])
@Index('counterparty_profiles_updated', ['orgId', 'agentId', 'lastUpdatedAt', 'id'])
@Index('counterparty_profiles_linked', ['linkedTo'], { where: 'linked_to is not null' })
@Check('counterparty_profiles_name_source_check', `name_source in ('turn', 'operator')`)
export class CounterpartyProfileEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'counterparty_profiles_pkey' })
  id: string;

  @Column('uuid')
  orgId: string;

  /** The observer. */
  @Column('uuid')
  agentId: string;

  /** The identity under which the subject was met first, as far as it is known; `''` where not. */
  @Column('text')
  subjectPlatform: string;

  @Column('text')
  subjectExternalId: string;

  @Column('text')
  subjectHandle: string;

  @Column('text')
  subjectName: string;

  /** What an operator called the subject is not changed by what a turn calls it. */
  @Column('text')
  nameSource: 'turn' | 'operator';

  /** When the turn that gave the name ended. */
  @Column({ type: 'timestamptz', nullable: true })
  nameSeenAt: Date | null;

  /** The profile that an operator merged this one into. */
  @Column({ type: 'uuid', nullable: true })
  linkedTo: string | null;

  @Column('jsonb')
  traits: unknown;

  @Column('integer')
  interactionCount: number;

  @Column('timestamptz')
  firstSeenAt: Date;

  @Column('timestamptz')
  lastUpdatedAt: Date;

  @Column({ type: 'timestamptz', nullable: true })
  lastCorroboratedAt: Date | null;

  @Column('tsvector')
  search: string;

  @Column('integer')
  searchLength: number;

  @Column('timestamptz')
  createdAt: Date;
}
