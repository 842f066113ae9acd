import type { SkillTrigger } from './skill.models.js';

declare module '../../platform/events/app-events.js' {
  interface AppEvents {
    /** A skill was drafted from successful turns and stored. */
    'skill.synthesized': {
      skill_name: string;
      skill_id: string;
      trigger: SkillTrigger;
      /** Turns that it was drafted from. */
      cluster_size: number;
      /** Calls in the tool sequence of the turn that stands for all. */
      tool_count: number;
    };
  }
}
