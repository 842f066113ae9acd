declare module '../../platform/events/app-events.js' {
  interface AppEvents {
    /** What several agents of a unit have learned stands as a draft in the team's knowledge base; once for each draft. */
    'skill.promoted': {
      role: string;
      /** Its name, which is what identifies a unit. */
      unit_id: string;
      /** The draft's own. */
      skill_name: string;
      page_id: string;
      page_title: string;
      /** The unit's space or project, as it is configured. */
      container_key: string;
      /** Skills in the cluster. */
      sibling_count: number;
      distinct_agents: number;
    };
  }
}

export {};
