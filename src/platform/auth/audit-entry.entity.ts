import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('audit_log')
@Index('audit_log_org', ['orgId', 'at', 'id'])
@Index('audit_log_age', ['at'])
export class AuditEntryEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'audit_log_pkey' })
  id: string;

  @Column('uuid')
  orgId: string;

  @Column({ type: 'text', nullable: true })
  keyId: string | null;

  @Column({ type: 'text', nullable: true })
  keyName: string | null;

  @Column('text')
  method: string;

  @Column('text')
  route: string;

  @Column('jsonb')
  targets: Record<string, string>;

  @Column({ type: 'integer', nullable: true })
  status: number | null;

  @Column('timestamptz')
  at: Date;
}
