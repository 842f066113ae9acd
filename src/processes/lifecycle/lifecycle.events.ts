declare module '../../platform/events/app-events.js' {
  interface AppEvents {
    /** A write has brought an agent over its bound of raw episodes. They are counted up to one more than the bound. */
    'compaction.requested': { agent_handle: string; raw_count: number; threshold: number };

    /** A lifecycle pass over an agent's episodes has ended; what was done before a crash or a retry is counted too. */
    'compaction.completed': {
      agent_handle: string;
      non_terminal_dropped: number;
      consolidated_dropped: number;
      /** Compacted rows written. */
      clusters_compacted: number;
      /** Raw rows that they have taken the place of; exemplars stay and are not among them. */
      raw_replaced_by_compaction: number;
      compacted_evicted: number;
      /** Why no model summed up what is old: `no_model`, `role_disabled`, `model_unavailable`; null where one could. */
      skipped_reason: string | null;
    };
  }
}

export {};
