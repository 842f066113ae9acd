import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('execute_contexts')
@Index('execute_contexts_age', ['createdAt'])
export class ExecuteContextEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'execute_contexts_pkey' })
  orgId: string;

  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'execute_contexts_pkey' })
  agentId: string;

  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'execute_contexts_pkey' })
  turnId: string;

  @PrimaryColumn({ type: 'integer', primaryKeyConstraintName: 'execute_contexts_pkey' })
  iteration: number;

  @Column('text')
  rendered: string;

  @Column('timestamptz')
  createdAt: Date;
}
