import { Column, Entity, PrimaryColumn } from 'typeorm';

/** That a trigger brought an observer and a counterparty together. */
@Entity('counterparty_interactions')
export class CounterpartyInteractionEntity {
  @Column('uuid')
  orgId: string;

  @Column('uuid')
  agentId: string;

  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'counterparty_interactions_pkey' })
  profileId: string;

  /** Work key of the turn, else its id. */
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'counterparty_interactions_pkey' })
  triggerKey: string;

  @Column('uuid')
  turnId: string;

  @Column('timestamptz')
  occurredAt: Date;
}
