/** `active` and `stale` skills are live: they hold their name, count towards the cap and can be used. */
export type SkillState = 'active' | 'stale' | 'archived' | 'rejected';
export type SkillOrigin = 'synthesized' | 'operator' | 'import';
export type SkillTrigger = 'single_turn' | 'clustered';

/** What made a version; `replace` is an operator's edit. */
export type SkillChangeKind =
  'created' | 'observed_in_practice' | 'counter_example' | 'refine_skill_tool' | 'replace' | 'rollback';

/** Whose skills. */
export interface SkillOwner {
  orgId: string;
  agentId: string;
}

export interface SkillRow {
  id: string;
  org_id: string;
  agent_id: string;
  name: string;
  description: string;
  content: string;
  tool_sequence: string[];
  source_episode_ids: string[];
  source_turn_ids: string[];
  origin: SkillOrigin;
  trigger: SkillTrigger | null;
  cluster_fingerprint: string | null;
  operator_edited: boolean;
  operator_released: boolean;
  version: number;
  version_kind: SkillChangeKind;
  version_note: string | null;
  version_at: Date;
  state: SkillState;
  pinned: boolean;
  stale_at: Date | null;
  archived_at: Date | null;
  revived_at: Date | null;
  use_count: number;
  last_used_at: Date | null;
  done_count: number;
  failed_count: number;
  created_at: Date;
  updated_at: Date;
}

/** A skill without its body, which may be long: enough to name, choose and compare it. */
export type SkillSummary = Omit<SkillRow, 'content'>;

/** A skill as every route shows it. */
export interface SkillView {
  id: string;
  name: string;
  description: string;
  content: string;
  tool_sequence: string[];
  version: number;
  state: SkillState;
  pinned: boolean;
  use_count: number;
  last_used_at: string | null;
  done_count: number;
  failed_count: number;
  created_at: string;
  updated_at: string;
}

/** One state of a skill. */
export interface SkillVersionView {
  version: number;
  description: string;
  content: string;
  /** What made this version. */
  kind: SkillChangeKind;
  /** Why, or what was noted; null where nothing was said. */
  note: string | null;
  /** When a newer version took its place; null: it is the live one. */
  archived_at: string | null;
}

/** The fields of `SkillSummary`. */
export const SKILL_SUMMARY_COLUMNS = `id, org_id, agent_id, name, description, tool_sequence, source_episode_ids,
  source_turn_ids, origin, trigger, cluster_fingerprint, operator_edited, operator_released, version, version_kind,
  version_note, version_at, state, pinned, stale_at, archived_at, revived_at, use_count, last_used_at, done_count,
  failed_count, created_at, updated_at`;

/** The fields of `SkillRow`. */
export const SKILL_COLUMNS = `${SKILL_SUMMARY_COLUMNS}, content`;

/** SQL condition: the skill holds its name and can be used. */
export const LIVE_SKILL = `state in ('active', 'stale')`;

export function isLive(skill: { state: SkillState }): boolean {
  return skill.state === 'active' || skill.state === 'stale';
}

export function viewOf(row: SkillRow): SkillView {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    content: row.content,
    tool_sequence: row.tool_sequence,
    version: row.version,
    state: row.state,
    pinned: row.pinned,
    use_count: row.use_count,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    done_count: row.done_count,
    failed_count: row.failed_count,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
