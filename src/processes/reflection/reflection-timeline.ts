import type { WorkerEnd } from '../../core/turn/extension-points.js';

/** How one part of a worker went this time; `retrying` will be run again. */
export interface ReflectionStep {
  worker: string;
  outcome: WorkerEnd | 'retrying';
  reason: string | null;
  startedAt: Date;
  endedAt: Date;
}

/** What one look at a turn came to; `waiting` is for a budget or a slot. */
export type ReflectionStatus = 'done' | 'skipped' | 'dead' | 'retrying' | 'superseded' | 'waiting';

declare module '../../platform/events/app-events.js' {
  interface AppObservations {
    /** A turn was looked at: the workers ran, or something kept them from it. */
    'reflection.looked': {
      turnId: string;
      agentId: string;
      traceId: string | null;
      spanId: string | null;
      status: ReflectionStatus;
      reason: string | null;
      startedAt: Date;
      endedAt: Date;
      steps: readonly ReflectionStep[];
    };
  }
}

/** Keeps time while a turn is reflected on. */
export class ReflectionTimeline {
  readonly startedAt = new Date();
  readonly steps: ReflectionStep[] = [];
  private readonly begun = new Map<string, Date>();

  begin(worker: string, part: string): void {
    this.begun.set(`${worker} ${part}`, new Date());
  }

  end(worker: string, part: string, outcome: ReflectionStep['outcome'], reason: string | null): void {
    const endedAt = new Date();
    this.steps.push({ worker, outcome, reason, startedAt: this.begun.get(`${worker} ${part}`) ?? endedAt, endedAt });
  }
}
