import { Column, Entity, PrimaryColumn, Unique } from 'typeorm';

@Entity('api_keys')
@Unique('api_keys_hash_key', ['keyHash'])
export class ApiKeyEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'api_keys_pkey' })
  id: string;

  @Column('uuid')
  orgId: string;

  @Column('text')
  name: string;

  @Column('text')
  keyHash: string;

  @Column('jsonb')
  scopes: string[];

  @Column('timestamptz')
  createdAt: Date;

  @Column({ type: 'timestamptz', nullable: true })
  expiresAt: Date | null;

  @Column({ type: 'timestamptz', nullable: true })
  revokedAt: Date | null;

  /** To the minute. */
  @Column({ type: 'timestamptz', nullable: true })
  lastUsedAt: Date | null;
}
