import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Who spoke in a turn; outlives its body, for erasure. */
@Entity('turn_subjects')
@Index('turn_subjects_external_id', { synchronize: false })
@Index('turn_subjects_handle', { synchronize: false })
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
