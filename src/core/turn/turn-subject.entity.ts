import { Entity, PrimaryColumn } from 'typeorm';

/** Who spoke in a turn; outlives its body, for erasure. */
@Entity('turn_subjects')
export class TurnSubjectEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'turn_subjects_pkey' })
  orgId: string;

  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'turn_subjects_pkey' })
  turnId: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'turn_subjects_pkey' })
  platform: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'turn_subjects_pkey' })
  externalId: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'turn_subjects_pkey' })
  handle: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'turn_subjects_pkey' })
  displayName: string;
}
