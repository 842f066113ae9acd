import { oneLine } from '../../core/auxiliary/fence.js';
import { screenText } from '../../core/screening/screening-rules.js';
import type { CompactedSummary } from '../../memories/episodes/compaction.models.js';
import type { RawEpisode } from '../../memories/episodes/raw-episodes.js';

/** UTF-16 code units of one example, and how many a summary names. */
const EXAMPLE_LIMIT = 80;
const EXAMPLES = 6;
const TOOLS = 8;

/**
 * What can be said of turns without a model: their tools, how they ended, and the newest of their tasks as examples.
 * What people wrote is unscreened in an episode; what is flagged of it is left out.
 *
 * @param alike whether they used the same tools
 */
export function computedSummary(members: readonly RawEpisode[], { alike }: { alike: boolean }): CompactedSummary {
  const tools = toolsByUse(members);
  const examples = examplesOf(members);
  const head = alike ? `Turns with ${tools.map(([tool]) => tool).join(', ')}` : '(heterogeneous)';
  const pattern = examples.length > 0 ? `${head}${alike ? ': ' : ' '}${examples.join('; ')}` : head;
  const done = members.filter(({ reviewOutcome }) => reviewOutcome === 'done').length;
  return {
    commonTaskPattern: unlessFlagged(pattern) ?? (alike ? '(unspecified)' : '(heterogeneous)'),
    commonOutcome: `${done} of ${members.length} done`,
    subjectsInvolved: [],
    notablePatterns:
      unlessFlagged(
        alike || tools.length === 0 ? '' : `Tools: ${tools.map(([tool, uses]) => `${tool} (${uses}×)`).join(', ')}`,
      ) ?? '',
  };
}

/** The tools used in most turns first, and in how many. */
function toolsByUse(members: readonly RawEpisode[]): [string, number][] {
  const uses = new Map<string, number>();
  for (const { toolSequence } of members) {
    for (const tool of new Set(toolSequence)) uses.set(tool, (uses.get(tool) ?? 0) + 1);
  }
  return [...uses]
    .sort(([a, ofA], [b, ofB]) => ofB - ofA || (a < b ? -1 : 1))
    .slice(0, TOOLS)
    .map(([tool, count]) => [oneLine(tool, EXAMPLE_LIMIT), count]);
}

function examplesOf(members: readonly RawEpisode[]): string[] {
  const newestFirst = [...members].sort((a, b) => b.endedAt.getTime() - a.endedAt.getTime() || (a.id < b.id ? -1 : 1));
  const examples = new Set<string>();
  for (const { taskSummary } of newestFirst) {
    const example = oneLine(taskSummary, EXAMPLE_LIMIT);
    if (example !== '' && unlessFlagged(taskSummary) !== null) examples.add(example);
    if (examples.size === EXAMPLES) break;
  }
  return [...examples];
}

function unlessFlagged(text: string): string | null {
  return screenText(text).flagged ? null : text;
}
