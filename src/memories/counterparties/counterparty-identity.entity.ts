import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** One name under which an observer meets a counterparty. */
@Entity('counterparty_identities')
@Index('counterparty_identities_profile', ['profileId'])
@Index('counterparty_identities_known', ['orgId', 'identityKey'])
@Check('counterparty_identities_kind_check', `kind in ('external_id', 'handle')`)
export class CounterpartyIdentityEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'counterparty_identities_pkey' })
  orgId: string;

  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'counterparty_identities_pkey' })
  agentId: string;

  /** Digest of platform, kind and value. */
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'counterparty_identities_pkey' })
  identityKey: string;

  @Column('uuid')
  profileId: string;

  @Column('text')
  platform: string;

  @Column('text')
  kind: 'external_id' | 'handle';

  @Column('text')
  value: string;

  /** End of the newest turn in which the counterparty had this name. */
  @Column('timestamptz')
  seenAt: Date;
}
