import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { SynthesizedSkillEntity } from './synthesized-skill.entity.js';

/** A state that a skill was in before a change. */
@Entity('synthesized_skill_versions')
@Index('synthesized_skill_versions_version', ['skillId', 'version'], { unique: true })
export class SynthesizedSkillVersionEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'synthesized_skill_versions_pkey' })
  id: string;

  @Column('uuid')
  skillId: string;

  @ManyToOne(() => SynthesizedSkillEntity, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'skill_id', foreignKeyConstraintName: 'synthesized_skill_versions_skill_fkey' })
  skill: SynthesizedSkillEntity;

  @Column('uuid')
  orgId: string;

  @Column('uuid')
  agentId: string;

  @Column('integer')
  version: number;

  @Column('text')
  description: string;

  @Column('text')
  content: string;

  @Column('jsonb')
  toolSequence: string[];

  @Column('jsonb')
  sourceEpisodeIds: string[];

  @Column('jsonb')
  sourceTurnIds: string[];

  @Column('boolean')
  operatorEdited: boolean;

  @Column('boolean')
  operatorReleased: boolean;

  @Column('text')
  kind: string;

  @Column({ type: 'text', nullable: true })
  note: string | null;

  @Column('timestamptz')
  createdAt: Date;

  @Column('timestamptz')
  archivedAt: Date;
}
