import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('roles')
export class RoleEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'roles_pkey' })
  orgId: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'roles_pkey' })
  name: string;

  @Column({ type: 'boolean', nullable: true })
  learningEnabled: boolean | null;

  @Column('jsonb')
  llm: unknown;

  @Column('jsonb')
  llmAuxiliary: string[];

  @Column({ type: 'integer', nullable: true })
  maxConcurrent: number | null;
}
