import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Who spoke in a turn; outlives its body, for erasure. */
@Entity('turn_subjects')
export class TurnSubjectEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'turn_subjects_pkey' })
  orgId: string;

  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'turn_subjects_pkey' })
  turnId: string;

  @Column('text')
  platform: string;

  @Column('text')
  externalId: string;

  @Column('text')
  handle: string;

  @Column('text')
  displayName: string;

  /** Digest of the four. */
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'turn_subjects_pkey' })
  subjectKey: string;
}
