import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('llm_usage')
export class LlmUsageEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'llm_usage_pkey' })
  orgId: string;

  @PrimaryColumn({ type: 'date', primaryKeyConstraintName: 'llm_usage_pkey' })
  day: string;

  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'llm_usage_pkey' })
  agentId: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'llm_usage_pkey' })
  worker: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'llm_usage_pkey' })
  provider: string;

  @Column('bigint')
  calls: string;

  @Column('bigint')
  inputTokens: string;

  @Column('bigint')
  outputTokens: string;
}
