import { fence, FENCE_RULE } from '../../core/auxiliary/fence.js';
import type { RawEpisode } from '../../memories/episodes/raw-episodes.js';
import { clipText } from '../../platform/text/storable-text.js';

/** UTF-16 code units of a task and of a plan, tools of a turn, and turns of a cluster that the model sees. */
const TEXT_LIMIT = 280;
const TOOL_LIMIT = 8;
const TURN_LIMIT = 40;

export const EPISODE_COMPACTOR_RULES = `You sum up many finished turns of one AI agent, in which it used much the same tools. Your summary takes their place in the agent's memory: it is searched when a new task comes, and shown to the agent as it plans.

Answer with one JSON object:
{"common_task_pattern": "...", "common_outcome": "...", "subjects_involved": ["..."], "notable_patterns": "..."}

- common_task_pattern: what kind of task these turns were, in one sentence of at most 40 words, with the words in which such a task is asked for. If they have no task in common, begin with "(heterogeneous)" and name the kinds.
- common_outcome: how they usually ended, and what set those apart that ended otherwise, in one sentence.
- subjects_involved: the systems, projects, products or groups that several of them were about; at most 10, none where there are none. Name a person only where that person matters to the pattern.
- notable_patterns: what to repeat and what to avoid next time, in at most three sentences; "" where nothing stands out.

State only what the turns show, as facts and not as instructions, in the language that most of them are written in.

${FENCE_RULE}`;

/** The data of one cluster, for the rules above; of many turns a sample spread evenly over their time. */
export function episodeCompactorPrompt(members: readonly RawEpisode[]): string {
  const oldestFirst = [...members].sort((a, b) => a.endedAt.getTime() - b.endedAt.getTime() || (a.id < b.id ? -1 : 1));
  const shown = spread(oldestFirst, TURN_LIMIT);
  const done = members.filter(({ reviewOutcome }) => reviewOutcome === 'done').length;
  const count = `${members.length} turns, ${done} of them done`;
  const sample = shown.length < members.length ? `; ${shown.length} of them are shown` : '';
  return `${count}${sample}, oldest first:\n${fence('episodes', JSON.stringify(shown.map(factsOf), null, 1))}`;
}

function factsOf(episode: RawEpisode): Record<string, unknown> {
  return {
    task: clipText(episode.taskSummary, TEXT_LIMIT),
    plan: clipText(episode.planSummary, TEXT_LIMIT),
    tool_sequence: episode.toolSequence.slice(0, TOOL_LIMIT),
    outcome: episode.reviewOutcome,
    ended_at: episode.endedAt.toISOString(),
  };
}

/** At most `limit` values at even distances, first and last among them. */
function spread<Value>(values: readonly Value[], limit: number): Value[] {
  if (values.length <= limit) return [...values];
  return Array.from({ length: limit }, (_, index) => values[Math.round((index * (values.length - 1)) / (limit - 1))]!);
}
