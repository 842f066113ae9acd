declare module '../../platform/events/app-events.js' {
  interface AppEvents {
    /** The PersistDecider has settled what of a turn is remembered. */
    'persist_decider.completed': {
      persisted: boolean;
      doc_id: string | null;
      scope: 'agent';
      classification: 'NOOP' | 'LONG' | 'SHORT' | 'DOC';
      ttl_until: string | null;
      review_outcome: string;
    };
  }
}

export {};
