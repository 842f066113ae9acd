import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('stream_tickets')
export class StreamTicketEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'stream_tickets_pkey' })
  ticketHash: string;

  @Column('uuid')
  orgId: string;

  @Column({ type: 'text', nullable: true })
  keyId: string | null;

  @Column({ type: 'text', nullable: true })
  keyName: string | null;

  @Column('timestamptz')
  expiresAt: Date;
}
