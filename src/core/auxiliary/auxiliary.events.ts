import type { Answer } from '../../platform/llm/answers.js';
import type { LlmFault } from '../../platform/llm/llm.models.js';

declare module '../../platform/events/app-events.js' {
  interface AppEvents {
    /** A call of an auxiliary model was answered. What was asked and said is not in it: an event is no place for either. */
    'auxiliary_call.completed': {
      worker: string;
      provider: string;
      model: string;
      outcome: Answer<unknown>['kind'];
      input_tokens: number;
      output_tokens: number;
      duration_ms: number;
    };
  }

  interface AppObservations {
    /** A provider did not answer a call; the chain's next one may have. */
    'auxiliary_call.failed': { worker: string; provider: string; fault: LlmFault };
  }
}
