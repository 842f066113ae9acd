import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What an operator wrote over HTTP. */
@Entity('tool_skills')
export class ToolSkillEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'tool_skills_pkey' })
  orgId: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'tool_skills_pkey' })
  key: string;

  @Column('jsonb')
  trigger: unknown;

  @Column('jsonb')
  phases: string[];

  @Column('text')
  title: string;

  @Column('text')
  summary: string;

  @Column('boolean')
  required: boolean;

  @Column('text')
  body: string;

  /** It was flagged, and an operator let it through. */
  @Column('boolean')
  released: boolean;

  @Column('timestamptz')
  createdAt: Date;

  @Column('timestamptz')
  updatedAt: Date;
}
