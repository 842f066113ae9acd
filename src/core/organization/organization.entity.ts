import { Column, Entity, PrimaryColumn, Unique } from 'typeorm';

@Entity('organizations')
@Unique('organizations_name_key', ['name'])
export class OrganizationEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'organizations_pkey' })
  id: string;

  @Column('text')
  name: string;

  @Column('boolean')
  autoRegister: boolean;

  @Column({ type: 'bigint', nullable: true })
  dailyTokenBudget: string | null;

  @Column('jsonb')
  knowledge: unknown;

  @Column('timestamptz')
  createdAt: Date;

  @Column('timestamptz')
  updatedAt: Date;
}
