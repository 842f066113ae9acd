import type { RawEpisode } from './raw-episodes.js';

/** What is said of many turns at once. */
export interface CompactedSummary {
  commonTaskPattern: string;
  commonOutcome: string;
  subjectsInvolved: string[];
  notablePatterns: string;
}

/** What can be counted of the turns that one compacted row stands for; never asked of a model. */
export interface Aggregate {
  count: number;
  /** 0..1. */
  successRate: number;
  reviewOutcome: 'done' | 'failed';
  startedAt: Date;
  endedAt: Date;
  /** Milliseconds, of all together. */
  durationMs: number;
  /** Used in every one of them. */
  skillsUsed: string[];
  /** Where they all belong to one. */
  conversationId: string | null;
  sourceTurnIds: string[];
}

/** @param members at least one */
export function aggregateOf(members: readonly RawEpisode[]): Aggregate {
  const done = members.filter(({ reviewOutcome }) => reviewOutcome === 'done').length;
  const successRate = done / members.length;
  const [first, ...others] = members;
  const conversations = new Set(members.map(({ conversationId }) => conversationId));
  return {
    count: members.length,
    successRate,
    reviewOutcome: successRate >= 0.5 ? 'done' : 'failed',
    startedAt: new Date(Math.min(...members.map(({ startedAt }) => startedAt.getTime()))),
    endedAt: new Date(Math.max(...members.map(({ endedAt }) => endedAt.getTime()))),
    durationMs: members.reduce((sum, { durationMs }) => sum + durationMs, 0),
    skillsUsed: [...new Set(first!.skillsUsed)].filter((skill) =>
      others.every(({ skillsUsed }) => skillsUsed.includes(skill)),
    ),
    conversationId: conversations.size === 1 ? first!.conversationId : null,
    sourceTurnIds: [...new Set(members.flatMap(({ sourceTurnIds }) => sourceTurnIds))].sort(),
  };
}

/** How many of a cluster stay raw: never all, or nothing would be gained. */
export function exemplarCount(size: number, wanted: number): number {
  return Math.min(wanted, size - 1);
}

/** The most recent ones, newest first. */
export function exemplarsOf<Member extends { id: string; endedAt: Date }>(
  members: readonly Member[],
  wanted: number,
): Member[] {
  return [...members]
    .sort((a, b) => b.endedAt.getTime() - a.endedAt.getTime() || (a.id < b.id ? -1 : 1))
    .slice(0, exemplarCount(members.length, wanted));
}
