declare module '../../platform/events/app-events.js' {
  interface AppObservations {
    /** A batch of events was stored. */
    'events.written': { events: number };
    /** A write of events failed and will be tried again. */
    'event_store.failed': Record<never, never>;
    /** Events that will never be stored. */
    'events.lost': { events: number; cause: 'no_room' | 'unusable' | 'shutdown' };
  }
}

export {};
