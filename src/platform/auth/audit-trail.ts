import { createHash, randomUUID } from 'node:crypto';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import { isUuid } from '../http/page.js';
import { bestEffort } from '../jobs/best-effort.js';
import { DAY_MS, Sweeps } from '../jobs/sweep.job.js';
import type { Principal } from './principal.js';

export interface AuditedCall {
  principal: Principal;
  method: string;
  /** The template, e.g. `/agents/:id/diary`. */
  route: string;
  targets: Record<string, string>;
}

/** Who did what with administrative rights. Rows are written and swept, never changed otherwise. */
@Injectable()
export class AuditTrail implements OnModuleInit {
  private readonly log = new Logger(AuditTrail.name);

  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    private readonly sweeps: Sweeps,
  ) {}

  onModuleInit(): void {
    this.sweeps.register({ name: 'rows of the audit log', run: (now) => this.sweep(now) });
  }

  /** A call that is about to change something; it must not happen if this throws. Answers with the row's id. */
  begin(call: AuditedCall): Promise<string> {
    return this.write(call, null);
  }

  /** How a call that has begun was answered. A row without a status is of a call that a crash cut off. */
  async end(id: string, status: number): Promise<void> {
    await bestEffort(this.log, `the end of the audited call ${id} (${status}) is not noted`, async () => {
      await this.database.query(`update audit_log set status = $2 where id = $1`, [id, status]);
    });
  }

  /** A call that only read. */
  async note(call: AuditedCall, status: number): Promise<void> {
    await bestEffort(this.log, `${call.method} ${call.route} is missing in the audit log`, async () => {
      await this.write(call, status);
    });
  }

  private async write({ principal, method, route, targets }: AuditedCall, status: number | null): Promise<string> {
    const id = randomUUID();
    await this.database.query(
      `insert into audit_log (id, org_id, key_id, key_name, method, route, targets, status, at)
       values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9)`,
      [
        id,
        principal.orgId,
        principal.keyId,
        principal.keyName,
        method,
        route,
        JSON.stringify(targets),
        status,
        new Date(),
      ],
    );
    return id;
  }

  private async sweep(now: Date): Promise<number> {
    const before = new Date(now.getTime() - this.settings.telemetry.audit_retention_days * DAY_MS);
    const rows = await this.database.query(`delete from audit_log where at < $1 returning id`, [before]);
    return rows.length;
  }
}

/** Parts of an address that name nobody. */
const PLAIN = new Set(['task', 'version']);
/** Fields of a body that say whom a call is about. */
const SUBJECT = ['platform', 'external_id', 'handle'];

/**
 * What a call was about: the parameters of its address, and the subject that its body names. What may name a person,
 * which is all but ids, is kept as its sha-256, so that the log outlives an erasure and can still be asked about somebody.
 */
export function auditTargets(parameters: unknown, body: unknown): Record<string, string> {
  const targets: Record<string, string> = {};
  for (const [name, value] of Object.entries((parameters ?? {}) as Record<string, unknown>)) {
    if (typeof value === 'string') targets[name] = PLAIN.has(name) || isUuid(value) ? value : sha256(value);
  }
  const fields = (body !== null && typeof body === 'object' ? body : {}) as Record<string, unknown>;
  for (const name of SUBJECT) {
    const value = fields[name];
    if (typeof value === 'string') targets[`body.${name}`] = sha256(value);
  }
  return targets;
}

function sha256(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
