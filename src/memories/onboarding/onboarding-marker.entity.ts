import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('agent_onboarding_markers')
@Check(
  'agent_onboarding_markers_mark_check',
  '(chain_hash is null) = (summary is null) and (chain_hash is null) = (onboarded_at is null)',
)
@Check('agent_onboarding_markers_lease_check', '(lease_id is null) = (lease_until is null)')
export class OnboardingMarkerEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'agent_onboarding_markers_pkey' })
  orgId: string;

  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'agent_onboarding_markers_pkey' })
  agentId: string;

  /** Of the chain for which the agent was onboarded last; null until it has been. */
  @Column({ type: 'text', nullable: true })
  chainHash: string | null;

  /** What the agent said it had learned. */
  @Column({ type: 'text', nullable: true })
  summary: string | null;

  @Column({ type: 'timestamptz', nullable: true })
  onboardedAt: Date | null;

  /** Of the pass under way. */
  @Column({ type: 'uuid', nullable: true })
  leaseId: string | null;

  @Column({ type: 'timestamptz', nullable: true })
  leaseUntil: Date | null;

  @Column('jsonb')
  sourceTurnIds: string[];

  @Column('timestamptz')
  createdAt: Date;

  @Column('timestamptz')
  updatedAt: Date;
}
