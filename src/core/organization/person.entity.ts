import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('people')
export class PersonEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'people_pkey' })
  orgId: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'people_pkey' })
  handle: string;

  @Column({ type: 'text', nullable: true })
  displayName: string | null;

  @Column('jsonb')
  identities: unknown;
}
