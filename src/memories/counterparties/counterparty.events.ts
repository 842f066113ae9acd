declare module '../../platform/events/app-events.js' {
  interface AppEvents {
    /** An agent met a counterparty: the interaction was counted, and perhaps traits were observed. */
    'counterparty_profile.updated': {
      observer_handle: string;
      role: string;
      turn_id: string;
      subject_handle: string | null;
      subject_external_id: string | null;
      subject_platform: string | null;
      subject_name: string | null;
      /** Traits of this observation; 0 where nothing was observed. */
      traits_patched: number;
    };
  }
}

export {};
