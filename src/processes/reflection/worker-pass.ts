import { Injectable, Logger } from '@nestjs/common';
import { AuxiliaryUnavailable } from '../../core/auxiliary/auxiliary-model.js';
import type { ReflectionInput, ReflectionWorker, WorkerEnd, WorkerResult } from '../../core/turn/extension-points.js';
import { TurnStore } from '../../core/turn/turn.store.js';
import { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { ReflectionInputs, type Pass } from './reflection-inputs.js';
import { ReflectionLedger, type WorkerView } from './reflection.ledger.js';
import { ReflectionWorkers } from './reflection-workers.js';

/** How one pass over the workers went. */
export type PassResult =
  | { status: 'done'; workersRun: number }
  | { status: 'retry'; at: Date }
  | { status: 'dead'; reason: string; error: string; workersRun: number }
  | { status: 'superseded' };

/** A fault of one part: dead, or to be tried again at `retryAt`. */
type Fault = { dead: true; error: string } | { dead: false; retryAt: Date };

class Superseded extends Error {}

/** Runs every worker that has not ended yet, each by itself: one that fails keeps none of the others from running. */
@Injectable()
export class WorkerPass {
  private readonly log = new Logger(WorkerPass.name);

  constructor(
    private readonly workers: ReflectionWorkers,
    private readonly ledger: ReflectionLedger,
    private readonly turns: TurnStore,
    private readonly database: Database,
    private readonly inputs: ReflectionInputs,
    private readonly settings: Settings,
  ) {}

  async run(pass: Pass): Promise<PassResult> {
    const input = await this.inputs.of(pass);
    const rows = await this.ledger.workers(pass.turn.orgId, pass.turn.turnId);
    const faults: Fault[] = [];
    let workersRun = 0;
    try {
      for (const worker of this.workers.inOrder) {
        const own = rows.filter((row) => row.worker === worker.name);
        if (own.some((row) => row.part === '' && row.status === 'skipped')) continue;
        const result = await this.runWorker(pass, input, worker, own);
        faults.push(...result.faults);
        workersRun += result.ran;
      }
    } catch (error) {
      if (error instanceof Superseded) return { status: 'superseded' };
      throw error;
    }
    const retries = faults.flatMap((fault) => (fault.dead ? [] : [fault.retryAt.getTime()]));
    if (retries.length > 0) return { status: 'retry', at: new Date(Math.min(...retries)) };
    const dead = (await this.ledger.workers(pass.turn.orgId, pass.turn.turnId)).find((row) => row.status === 'dead');
    if (dead) {
      return { status: 'dead', reason: dead.reason ?? 'worker_dead', error: `${dead.worker}: ${dead.error ?? ''}`, workersRun };
    }
    return { status: 'done', workersRun };
  }

  private async runWorker(
    pass: Pass,
    input: ReflectionInput,
    worker: ReflectionWorker,
    rows: readonly WorkerView[],
  ): Promise<{ faults: Fault[]; ran: number }> {
    const faults: Fault[] = [];
    let ran = 0;
    const guarded = async (part: string, attempts: number, work: () => Promise<void>): Promise<void> => {
      try {
        await work();
      } catch (error) {
        if (error instanceof Superseded || pass.signal.aborted) throw error;
        faults.push(await this.fault({ pass, input, worker, part, attempts, error }));
      }
    };
    const attemptsOf = (part: string): number => rows.find((row) => row.part === part)?.attempts ?? 0;
    let parts: readonly string[] = [];
    await guarded('', attemptsOf(''), async () => {
      const reason = await worker.skipReason(input);
      if (reason === null) parts = worker.parts?.(input) ?? [''];
      else await this.end({ pass, input, worker, part: '', attempts: 0, end: 'skipped', reason, error: null });
      // Left by a skip check that failed before; the parts speak for the worker now.
      if (!parts.includes('') && reason === null && rows.some((row) => row.part === '')) {
        await this.ledger.remove({ orgId: pass.turn.orgId, turnId: pass.turn.turnId, worker: worker.name, part: '' });
      }
    });
    for (const part of parts) {
      const row = rows.find((candidate) => candidate.part === part);
      if (row && row.status !== 'pending') continue;
      const attempts = attemptsOf(part);
      await guarded(part, attempts, async () => {
        const result = await worker.run(input, part);
        await this.end({
          pass,
          input,
          worker,
          part,
          attempts: attempts + 1,
          end: result.outcome,
          reason: result.reason ?? null,
          error: null,
          result,
        });
        ran += 1;
      });
    }
    return { faults, ran };
  }

  /** What a part wrote and its ledger row commit together; nothing is written for a body that was superseded. */
  private async end(last: {
    pass: Pass;
    input: ReflectionInput;
    worker: ReflectionWorker;
    part: string;
    attempts: number;
    end: WorkerEnd;
    reason: string | null;
    error: string | null;
    result?: WorkerResult;
  }): Promise<void> {
    const { pass, input, worker, part } = last;
    const { orgId, turnId, contentHash } = pass.turn;
    await this.database.transaction(async () => {
      const current = await this.turns.find(orgId, turnId, { lock: true });
      if (current?.contentHash !== contentHash) throw new Superseded();
      await last.result?.apply?.();
      await worker.settle?.(input, part, last.end);
      await this.ledger.write(
        { orgId, turnId, worker: worker.name, part },
        { status: last.end, reason: last.reason, attempts: last.attempts, error: last.error },
      );
    });
  }

  private async fault(failed: {
    pass: Pass;
    input: ReflectionInput;
    worker: ReflectionWorker;
    part: string;
    attempts: number;
    error: unknown;
  }): Promise<Fault> {
    const { pass, worker, part, error } = failed;
    const { orgId, turnId } = pass.turn;
    const message = error instanceof Error ? error.message : String(error);
    this.log.warn(`${worker.name} failed for turn ${turnId} of agent ${pass.agent.handle}: ${message}`);
    const unavailable = error instanceof AuxiliaryUnavailable ? error : null;
    // An open breaker sent nothing, so nothing was tried.
    const attempts = failed.attempts + (unavailable?.fault === 'open' ? 0 : 1);
    const { max_attempts: most, retry_base_seconds: base } = this.settings.learning.reflect;
    if (unavailable?.fault === 'refused' || attempts >= most) {
      const reason = unavailable?.fault === 'refused' ? 'refused' : 'attempts_exhausted';
      await this.end({ ...failed, attempts, end: 'dead', reason, error: message });
      return { dead: true, error: message };
    }
    const backoff = new Date(Date.now() + base * 4 ** (attempts - 1) * 1000);
    const retryAt = unavailable?.retryAt ?? backoff;
    await this.ledger.write(
      { orgId, turnId, worker: worker.name, part },
      { status: 'pending', reason: 'backoff', attempts, error: message },
    );
    return { dead: false, retryAt };
  }
}
