import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';

/**
 * Tells the workers of this process that there is a job. Those of other replicas hear of it by LISTEN; on the embedded
 * database, which has one session for all connections, a notification reaches the connection that caused it alone.
 */
@Injectable()
export class JobBell {
  private listener: (() => void) | null = null;

  constructor(private readonly database: Database) {}

  /** Once the running transaction has committed. */
  ring(): void {
    this.database.afterCommit(() => this.listener?.());
  }

  onRing(listener: (() => void) | null): void {
    this.listener = listener;
  }
}
