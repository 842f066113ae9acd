import { oneLine } from '../../core/auxiliary/fence.js';
import type { EpisodeView } from './episode.view.js';

/** UTF-16 code units of a task, and tools, that one line shows. */
const TASK_LIMIT = 160;
const TOOL_LIMIT = 8;

/** One past turn, or one pattern of many, on one line. */
export function episodeLine(episode: EpisodeView): string {
  const tools = episode.tool_sequence.slice(0, TOOL_LIMIT).join(', ');
  const suffix =
    tools === '' ? '' : ` (tools: ${oneLine(tools)}${episode.tool_sequence.length > TOOL_LIMIT ? ', …' : ''})`;
  const day = `${episode.ended_at.slice(0, 10)} UTC`;
  if (episode.kind === 'compacted') {
    const rate = episode.success_rate == null ? '' : `, ${Math.round(episode.success_rate * 100)} % done`;
    return `[pattern, observed ${episode.count}×${rate}, until ${day}] ${oneLine(episode.common_task_pattern ?? '', TASK_LIMIT)}${suffix}`;
  }
  return `[${episode.review_outcome}, ${day}] ${oneLine(episode.task_summary, TASK_LIMIT)}${suffix}`;
}
