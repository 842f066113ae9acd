declare module '../../platform/events/app-events.js' {
  interface AppEvents {
    /** A raw episode was stored. */
    'episode.written': { review_outcome: string; duration_ms: number; tool_count: number };
  }
}

export {};
