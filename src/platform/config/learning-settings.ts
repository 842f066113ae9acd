import { Amount, Block, Switch, Whole } from './option-decorators.js';

/** Accepted so that files of the reference engine load; nothing reads it. */
export class EpisodicSettings {
  /** Accepted and without effect: each surface has its own limit. 1..200. @default 5 */
  @Whole(1, 200)
  retrieval_limit = 5;
}

/** What runs after a turn. */
export class ReflectSettings {
  /** Reflect on finished turns at all; episodes are stored either way. @default true */
  @Switch()
  enabled = true;

  /** Let the PersistDecider run. @default true */
  @Switch()
  persist_decider = true;

  /** Most output tokens of one PersistDecider call, 0..1000000; 0 = the provider's own limit. @default 5000 */
  @Whole(0, 1_000_000)
  budget_tokens = 5_000;

  /** Summarise recalled episodes with the auxiliary model instead of listing them. @default true */
  @Switch()
  summarize_episodes = true;

  /** Most output tokens of one such summary, 0..1000000; 0 = the provider's own limit. @default 400 */
  @Whole(0, 1_000_000)
  summarize_max_tokens = 400;

  /** Attempts of one reflection worker, or of one compaction, at a fault that passes by, before it is dead, 1..100. @default 5 */
  @Whole(1, 100)
  max_attempts = 5;

  /** Seconds before the second attempt, doubled for each further one, 0..3600. @default 2 */
  @Amount(0, 3_600)
  retry_base_seconds = 2;
}

/** Profiles of the people and agents a turn was about. */
export class CounterpartySettings {
  /** Let the CounterpartyProfiler run. @default true */
  @Switch()
  enabled = true;

  /** Most output tokens of one call, 0..1000000; 0 = the provider's own limit. @default 3000 */
  @Whole(0, 1_000_000)
  budget_tokens = 3_000;
}

/** Drafting skills from turns that went well. */
export class SkillSynthesisSettings {
  /** Let the SkillSynthesizer run, after single turns and over clusters. @default true */
  @Switch()
  enabled = true;

  /** Tool calls from which on a single done turn is worth a draft, 1..1000. @default 5 */
  @Whole(1, 1_000)
  min_tool_calls = 5;

  /** Most output tokens of one call, 0..1000000; 0 = the provider's own limit. @default 4000 */
  @Whole(0, 1_000_000)
  budget_tokens = 4_000;

  /** Skills one agent may have that are neither archived nor rejected, 1..1000. @default 50 */
  @Whole(1, 1_000)
  max_skills_per_agent = 50;

  /** Jaccard similarity of tool sequences from which on a draft is a duplicate, 0..1. @default 0.7 */
  @Amount(0, 1)
  duplicate_jaccard_threshold = 0.7;

  /** Look for clusters of similar turns from time to time. @default true */
  @Switch()
  scheduler_enabled = true;

  /** Seconds from one such look to the next, 1..2592000. @default 3600 */
  @Whole(1, 2_592_000)
  scheduler_interval_seconds = 3_600;

  /** Age in hours up to which turns are clustered, 0..87600; 0 = no limit. @default 0 */
  @Whole(0, 87_600)
  cluster_window_hours = 0;

  /** Turns that make a cluster, 2..1000. @default 3 */
  @Whole(2, 1_000)
  cluster_min_size = 3;

  /** Jaccard similarity of tool sequences from which on a turn joins a cluster, 0..1. @default 0.6 */
  @Amount(0, 1)
  cluster_jaccard_threshold = 0.6;

  /** Turns of one agent that are looked at, newest first, 2..10000. @default 200 */
  @Whole(2, 10_000)
  episode_fetch_limit = 200;
}

/** Mending skills while they are used. */
export class SkillRefinementSettings {
  /** Let skills be refined, by the SkillRefiner and by the tool. @default true */
  @Switch()
  enabled = true;

  /** Refine after done turns that used a skill. @default true */
  @Switch()
  auto_refine_on_success = true;

  /** Refine after failed turns that used a skill. @default true */
  @Switch()
  auto_refine_on_failure = true;

  /** Most output tokens of one call, 0..1000000; 0 = the provider's own limit. @default 3000 */
  @Whole(0, 1_000_000)
  budget_tokens = 3_000;

  /** Most characters of a skill's body; a write beyond is refused, 1..20000. @default 20000 */
  @Whole(1, 20_000)
  max_body_chars = 20_000;

  /** Earlier versions kept of one skill, 0..1000; 0 = all. @default 10 */
  @Whole(0, 1_000)
  max_versions_kept = 10;
}

/** Drafting a page for the team where several agents learned the same. */
export class SkillPromotionSettings {
  /** Write drafts to the knowledge base. @default true */
  @Switch()
  enabled = true;

  /** Different agents of one unit that must have learned it, 2..1000. @default 3 */
  @Whole(2, 1_000)
  min_sibling_count = 3;

  /** Jaccard similarity of tool sequences from which on two skills are the same, 0..1. @default 0.6 */
  @Amount(0, 1)
  jaccard_threshold = 0.6;

  /** Most output tokens of one call, 0..1000000; 0 = the provider's own limit. @default 4000 */
  @Whole(0, 1_000_000)
  budget_tokens = 4_000;
}

/** Ageing of skills that nobody uses. */
export class SkillCuratorSettings {
  /** Mark unused skills stale, then archive them. @default true */
  @Switch()
  enabled = true;

  /** Hours from one look to the next, 1..8760. @default 24 */
  @Whole(1, 8_760)
  interval_hours = 24;

  /** Days without use after which an active skill is stale, 1..3650. @default 30 */
  @Whole(1, 3_650)
  stale_after_days = 30;

  /** Days without use after which a stale skill is archived, `stale_after_days`..3650. @default 90 */
  @Whole(1, 3_650)
  archive_after_days = 90;
}

/** Recall from the diary. */
export class PersonalMemorySettings {
  /** Different hints a turn may refresh its memory with, 1..100. @default 3 */
  @Whole(1, 100)
  max_refreshes_per_turn = 3;
}

/** Bounds of the episode store. */
export class EpisodeLifecycleSettings {
  /** Raw episodes one agent may have before they are compacted, 0..1000000; 0 = no bound and no lifecycle. @default 500 */
  @Whole(0, 1_000_000)
  max_raw_episodes_per_agent = 500;

  /** Accepted and without effect: the bound is checked at every write. 1..1000000. @default 10 */
  @Whole(1, 1_000_000)
  write_check_every_n = 10;

  /** Days after which `self_iterate` episodes are dropped, 0..3650; 0 = never. @default 14 */
  @Whole(0, 3_650)
  non_terminal_max_age_days = 14;

  /** Days that an episode outlives its consolidation into a skill, 0..3650; 0 = for good. @default 30 */
  @Whole(0, 3_650)
  consolidated_grace_days = 30;

  /** Days after which a raw episode may be compacted, 1..3650. @default 30 */
  @Whole(1, 3_650)
  compaction_min_age_days = 30;

  /** Episodes that make a cluster, 2..1000. @default 3 */
  @Whole(2, 1_000)
  compaction_min_cluster_size = 3;

  /** Jaccard similarity of tool sequences from which on an episode joins a cluster, 0..1. @default 0.6 */
  @Amount(0, 1)
  compaction_jaccard_threshold = 0.6;

  /** Episodes clustered at a time, 2..10000. @default 200 */
  @Whole(2, 10_000)
  compaction_batch_size = 200;

  /** Most output tokens of one compaction call, 0..1000000; 0 = the provider's own limit. @default 4000 */
  @Whole(0, 1_000_000)
  compaction_budget_tokens = 4_000;

  /** Episodes of a cluster that stay raw as examples, 0..10. @default 2 */
  @Whole(0, 10)
  exemplar_count = 2;

  /** Days after which compacted episodes are dropped, 0..36500; 0 = never. @default 0 */
  @Whole(0, 36_500)
  compacted_max_age_days = 0;
}

/** The knobs of learning itself. */
export class LearningSettings {
  /** Reflect on finished turns; a role's own learning_enabled goes first. Off, turns are still stored and searched. @default true */
  @Switch()
  enabled = true;

  @Block(() => EpisodicSettings)
  episodic = new EpisodicSettings();

  @Block(() => ReflectSettings)
  reflect = new ReflectSettings();

  @Block(() => CounterpartySettings)
  counterparty = new CounterpartySettings();

  @Block(() => SkillSynthesisSettings)
  skill_synthesis = new SkillSynthesisSettings();

  @Block(() => SkillRefinementSettings)
  skill_refinement = new SkillRefinementSettings();

  @Block(() => SkillPromotionSettings)
  skill_promotion = new SkillPromotionSettings();

  @Block(() => SkillCuratorSettings)
  skill_curator = new SkillCuratorSettings();

  @Block(() => PersonalMemorySettings)
  personal_memory = new PersonalMemorySettings();

  @Block(() => EpisodeLifecycleSettings)
  episode_lifecycle = new EpisodeLifecycleSettings();
}
