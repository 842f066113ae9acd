import { Injectable, Logger } from '@nestjs/common';
import { AuxiliaryUnavailable } from '../../core/auxiliary/auxiliary-model.js';
import type { ReflectionInput, ReflectionWorker, WorkerEnd, WorkerResult } from '../../core/turn/extension-points.js';
import { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { ErasedMeanwhile } from '../../core/personal-data/erasure-gate.js';
import { OpenTurn, Superseded } from './open-turn.js';
import { ReflectionInputs, type Pass } from './reflection-inputs.js';
import { ReflectionLedger, type LedgerKey, type WorkerStatus, type WorkerView } from './reflection.ledger.js';
import { ReflectionWorkers } from './reflection-workers.js';

/** How one pass over the workers went. */
export type PassResult =
  | { status: 'done'; workersRun: number }
  | { status: 'retry'; at: Date }
  | { status: 'dead'; reason: string; error: string; workersRun: number }
  | { status: 'superseded' };

/** Ends of a part that was run to its end. */
const RUN: ReadonlySet<WorkerStatus> = new Set(['done', 'noop', 'failed']);

const MAX_BACKOFF_SECONDS = 3_600;

/** Parts of one worker that run at a time: a turn of a thousand senders must not send as many calls at once. */
const PARTS_AT_ONCE = 10;

/** Runs every worker that has not ended yet, each by itself: one that fails keeps none of the others from running. */
@Injectable()
export class WorkerPass {
  private readonly log = new Logger(WorkerPass.name);

  constructor(
    private readonly workers: ReflectionWorkers,
    private readonly ledger: ReflectionLedger,
    private readonly openTurn: OpenTurn,
    private readonly database: Database,
    private readonly inputs: ReflectionInputs,
    private readonly settings: Settings,
  ) {}

  async run(asked: Omit<Pass, 'readSince'>): Promise<PassResult> {
    const { orgId, turnId } = asked.turn;
    const pass: Pass = { ...asked, readSince: await this.openTurn.readingFrom(orgId) };
    const input = await this.inputs.of(pass);
    const rows = await this.ledger.workers(orgId, turnId);
    const retries: Date[] = [];
    try {
      for (const worker of this.workers.inOrder) {
        const own = rows.filter((row) => row.worker === worker.name);
        retries.push(...(await this.runWorker(pass, input, worker, own)));
      }
    } catch (error) {
      if (error instanceof Superseded) return { status: 'superseded' };
      if (error instanceof ErasedMeanwhile) return { status: 'retry', at: new Date() };
      throw error;
    }
    if (retries.length > 0) return { status: 'retry', at: new Date(Math.min(...retries.map(Number))) };
    const ends = await this.ledger.workers(orgId, turnId);
    const workersRun = ends.filter(({ status }) => RUN.has(status)).length;
    const dead = ends.find((row) => row.status === 'dead');
    if (dead) {
      return {
        status: 'dead',
        reason: dead.reason ?? 'worker_dead',
        error: `${dead.worker}: ${dead.error ?? ''}`,
        workersRun,
      };
    }
    return { status: 'done', workersRun };
  }

  /** Runs the parts that have not ended; answers when those that failed want to be tried again. */
  private async runWorker(
    pass: Pass,
    input: ReflectionInput,
    worker: ReflectionWorker,
    rows: readonly WorkerView[],
  ): Promise<Date[]> {
    if (rows.some((row) => row.part === '' && row.status !== 'pending')) return [];
    const retries: Date[] = [];
    const guarded = async (part: string, work: (attempts: number) => Promise<void>): Promise<void> => {
      const attempts = rows.find((row) => row.part === part)?.attempts ?? 0;
      pass.timeline.begin(worker.name, part);
      try {
        await work(attempts);
      } catch (error) {
        if (error instanceof Superseded || error instanceof ErasedMeanwhile || pass.signal.aborted) throw error;
        const retryAt = await this.fault({ pass, input, worker, part, attempts, error });
        if (retryAt) retries.push(retryAt);
      }
    };
    let parts: readonly string[] = [];
    await guarded('', async () => {
      // What has begun is carried through, whatever the check would say by now.
      const begun = rows.some((row) => row.part !== '');
      const reason = begun ? null : await worker.skipReason(input);
      if (reason !== null) {
        await this.end({ pass, input, worker, part: '', attempts: 0, end: 'skipped', reason, error: null });
        return;
      }
      parts = worker.parts?.(input) ?? [''];
      // Left by a skip check that failed before; the parts speak for the worker now.
      if (!parts.includes('') && rows.some((row) => row.part === '')) {
        await this.ledger.remove({ orgId: pass.turn.orgId, turnId: pass.turn.turnId, worker: worker.name, part: '' });
      }
    });
    const open = parts.filter((part) => !rows.some((row) => row.part === part && row.status !== 'pending'));
    await allOf(open, (part) =>
      guarded(part, async (before) => {
        const result = await worker.run(input, part);
        const attempts = before + 1;
        const [end, reason, error] = [result.outcome, result.reason ?? null, result.error ?? null];
        await this.end({ pass, input, worker, part, attempts, end, reason, error, result });
      }),
    );
    return retries;
  }

  /** What a part wrote and its ledger row commit together. */
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
    await this.whileOpen(pass, worker.name, part, async (key, settled) => {
      const found = await last.result?.apply?.();
      const end = found?.outcome ?? last.end;
      const reason = found ? (found.reason ?? null) : last.reason;
      if (!settled) await worker.settle?.(input, part, end);
      const { attempts, error } = last;
      await this.ledger.write(key, { status: end, reason, attempts, error, settled: true });
      this.database.afterCommit(() => pass.timeline.end(worker.name, part, end, reason));
    });
  }

  /** Answers when to try again; null where the part is dead now. */
  private async fault(failed: {
    pass: Pass;
    input: ReflectionInput;
    worker: ReflectionWorker;
    part: string;
    attempts: number;
    error: unknown;
  }): Promise<Date | null> {
    const { pass, worker, part, error } = failed;
    const message = error instanceof Error ? error.message : String(error);
    this.log.warn(`${worker.name} failed for turn ${pass.turn.turnId} of agent ${pass.agent.handle}: ${message}`);
    const unavailable = error instanceof AuxiliaryUnavailable ? error : null;
    // An open breaker sent nothing, so nothing was tried.
    const attempts = failed.attempts + (unavailable?.fault === 'open' ? 0 : 1);
    const { max_attempts: most, retry_base_seconds: base } = this.settings.learning.reflect;
    if (unavailable?.fault === 'refused' || attempts >= most) {
      const reason = unavailable?.fault === 'refused' ? 'refused' : 'attempts_exhausted';
      await this.end({ ...failed, attempts, end: 'dead', reason, error: message });
      return null;
    }
    await this.whileOpen(pass, worker.name, part, (key) =>
      this.ledger.write(key, { status: 'pending', reason: 'backoff', attempts, error: message, settled: false }),
    );
    pass.timeline.end(worker.name, part, 'retrying', unavailable?.fault ?? 'fault');
    const seconds = Math.min(base * 2 ** Math.max(0, attempts - 1), MAX_BACKOFF_SECONDS);
    return unavailable?.retryAt ?? new Date(Date.now() + seconds * 1000);
  }

  /**
   * Writes in one transaction that holds the turn: nothing for a body that was superseded or erased, and nothing for a
   * part that has ended meanwhile, as it does where the job is delivered to two processes.
   */
  private async whileOpen(
    pass: Pass,
    worker: string,
    part: string,
    write: (key: LedgerKey, settled: boolean) => Promise<void>,
  ): Promise<void> {
    const { orgId, turnId } = pass.turn;
    const key = { orgId, turnId, worker, part };
    await this.openTurn.hold(pass.turn, pass.readSince, async () => {
      const { ended, settled } = await this.ledger.stateOf(key);
      if (!ended) await write(key, settled);
    });
  }
}

/** Runs `work` on all items, some at a time. Throws what one threw, but only once none is at work any more. */
async function allOf<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const queue = [...items];
  const faults: unknown[] = [];
  const lane = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined && faults.length === 0; item = queue.shift()) {
      try {
        await work(item);
      } catch (error) {
        faults.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: PARTS_AT_ONCE }, lane));
  if (faults.length > 0) throw faults[0];
}
