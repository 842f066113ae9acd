declare module '../../platform/events/app-events.js' {
  interface AppEvents {
    /** The reflection on a turn has ended: every worker, or a gate. */
    'reflection.completed': { workers_run: number; review_outcome: string; status: string; reason: string | null };
  }
}

export {};
