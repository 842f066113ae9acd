import { Injectable, Logger } from '@nestjs/common';
import { Agents } from '../../core/organization/agents.js';
import { CounterpartyReader } from '../../memories/counterparties/counterparty-reader.js';
import type { ProfileView } from '../../memories/counterparties/counterparty.models.js';
import type { DiaryView } from '../../memories/diary/diary.models.js';
import { DiaryReader } from '../../memories/diary/diary.reader.js';
import { EpisodeStore } from '../../memories/episodes/episode.store.js';
import type { EpisodeView } from '../../memories/episodes/episode.view.js';
import type { SkillView } from '../../memories/skills/skill.models.js';
import { SkillReader } from '../../memories/skills/skill.reader.js';

/** Everything that one agent has learned, as the dashboard shows it. */
export interface AgentMemoryView {
  agent_id: string;
  handle: string;
  role: string;
  personal_memories: { long: DiaryView[]; short: DiaryView[] };
  episodes: EpisodeView[];
  counterparty_profiles: ProfileView[];
  synthesized_skills: SkillView[];
  /** Live rows, whatever the limit. */
  totals: { long: number; short: number; episodes: number; counterparty_profiles: number; synthesized_skills: number };
  /** Sections that failed and are empty for that reason. */
  degraded: string[];
}

/** The read model of `GET /agents/:id/memory`: each section fails by itself. */
@Injectable()
export class AgentMemory {
  private readonly log = new Logger(AgentMemory.name);

  constructor(
    private readonly agents: Agents,
    private readonly diary: DiaryReader,
    private readonly episodes: EpisodeStore,
    private readonly skills: SkillReader,
    private readonly counterparties: CounterpartyReader,
  ) {}

  /** @param limit rows a section, newest first */
  async of(orgId: string, idOrHandle: string, limit: number): Promise<AgentMemoryView> {
    const agent = await this.agents.get(orgId, idOrHandle);
    const degraded: string[] = [];
    const section = async <Content>(key: string, empty: Content, read: () => Promise<Content>): Promise<Content> => {
      try {
        return await read();
      } catch (error) {
        this.log.error(`section ${key} of agent ${agent.id} failed: ${String(error)}`);
        if (!degraded.includes(key)) degraded.push(key);
        return empty;
      }
    };
    const none = { items: [], live: 0 };
    const long = await section('personal_memories', none, () =>
      this.diary.section(orgId, agent.id, 'diary_long', limit),
    );
    const short = await section('personal_memories', none, () =>
      this.diary.section(orgId, agent.id, 'diary_short', limit),
    );
    const episodes = await section('episodes', { items: [], next_cursor: null, total: 0 }, () =>
      this.episodes.list(orgId, agent.id, { limit }),
    );
    const skills = await section('synthesized_skills', { items: [], next_cursor: null, total: 0 }, () =>
      this.skills.section(orgId, agent.id, limit),
    );
    const profiles = await section('counterparty_profiles', { items: [], total: 0 }, () =>
      this.counterparties.section({ orgId, agentId: agent.id }, limit),
    );
    return {
      agent_id: agent.id,
      handle: agent.handle,
      role: agent.role,
      personal_memories: { long: long.items, short: short.items },
      episodes: episodes.items,
      counterparty_profiles: profiles.items,
      synthesized_skills: skills.items,
      totals: {
        long: long.live,
        short: short.live,
        episodes: episodes.total,
        counterparty_profiles: profiles.total,
        synthesized_skills: skills.total,
      },
      degraded,
    };
  }
}
