import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('units')
export class UnitEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'units_pkey' })
  orgId: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'units_pkey' })
  name: string;

  @Column({ type: 'text', nullable: true })
  parent: string | null;

  @Column({ type: 'text', nullable: true })
  lead: string | null;

  @Column({ type: 'text', nullable: true })
  confluenceSpace: string | null;

  @Column({ type: 'text', nullable: true })
  planeProject: string | null;
}
