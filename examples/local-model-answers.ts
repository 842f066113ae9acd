import {
  candidatesIn,
  fencedIn,
  hitsIn,
  listAfter,
  messagesIn,
  nameOf,
  outsideFences,
  sendersIn,
  taskIn,
  timeIn,
} from './local-model-prompt.js';
import { decidePersistence } from './local-model-persist.js';
import {
  compactEpisodes,
  draftSkill,
  knowledgeQuery,
  profileTraits,
  refinementNote,
  selectMemories,
  summarizeEpisodes,
} from './local-model-rules.js';

export interface ScriptedPrompt {
  system: string;
  user: string;
}

/** One learning worker's answer to what the worker's prompt holds, in the form that the worker reads. */
type Script = (prompt: string) => string;

const NOOP = 'NOOP';

const scripts: Record<string, Script> = {
  persist_decider: (prompt) =>
    JSON.stringify(
      decidePersistence({
        at: timeIn(prompt) ?? new Date(),
        messages: messagesIn(prompt),
        known: candidatesIn(prompt),
      }),
    ),
  memory_filter: (prompt) =>
    JSON.stringify({
      selected: selectMemories({ task: taskIn(prompt), senders: sendersIn(prompt), candidates: candidatesIn(prompt) }),
    }),
  summarize_episodes: (prompt) => summarizeEpisodes(hitsIn(prompt), taskIn(prompt)) || NOOP,
  relevant_knowledge_query: (prompt) => knowledgeQuery(taskIn(prompt)) || NOOP,
  counterparty_profiler: (prompt) => {
    const said = messagesIn(prompt).map(({ text }) => text);
    const traits = profileTraits(said.join('\n'));
    return traits.length > 0 ? JSON.stringify({ traits }) : NOOP;
  },
  skill_synthesizer: draftFrom,
  promotion_synthesizer: promoteFrom,
  skill_refiner: (prompt) => {
    const body = fencedIn(prompt).find(({ name }) => /skill|body/.test(name))?.text ?? '';
    const outcome = /outcome:? *(done|failed)/i.exec(outsideFences(prompt))?.[1]?.toLowerCase() ?? '';
    const note = refinementNote({ outcome, task: taskIn(prompt), tools: listAfter(prompt, /tools?/i), body });
    return note === null ? NOOP : JSON.stringify({ note });
  },
  episode_compactor: (prompt) => {
    const hits = hitsIn(prompt);
    return hits.length > 0 ? JSON.stringify(compactEpisodes(hits)) : NOOP;
  },
};

/** The answer of the rules for `worker`; a worker that there are no rules for hears NOOP. */
export function scriptedAnswer(worker: string, { user }: ScriptedPrompt): string {
  return Object.hasOwn(scripts, worker) ? (scripts[worker]?.(user) ?? NOOP) : NOOP;
}

function draftFrom(prompt: string): string {
  const fences = fencedIn(prompt);
  const first = (name: string): string => fences.find((fenced) => fenced.name === name)?.text ?? '';
  const tools = first('tools').split('\n').filter(Boolean);
  const draft = draftSkill({
    tools: tools.length > 0 ? tools : listAfter(prompt, /tools?|sequence/i),
    task: first('task') || taskIn(prompt),
    steps: first('plan')
      .split('\n')
      .map((line) => line.replace(/^\s*(?:\d+\.|[-*])\s*/, '').trim())
      .filter(Boolean),
    turns: fences.filter(({ name }) => name === 'task').length,
    takenNames: listAfter(prompt, /names?|existing|skills/i).map(nameOf),
  });
  return draft === null ? NOOP : JSON.stringify(draft);
}

/** What the skills of several agents share: their tools, each skill counted as often as it was learned. */
function promoteFrom(prompt: string): string {
  const fences = fencedIn(prompt);
  const skills = fences.filter(({ name }) => name === 'skill');
  const tools = (fences.find(({ name }) => name === 'tools')?.text ?? '').split('\n').filter(Boolean);
  const task = /^description: *(.*)$/m.exec(skills[0]?.text ?? '')?.[1] ?? '';
  const draft = draftSkill({ tools, task, steps: [], turns: skills.length, takenNames: [] });
  return draft === null ? NOOP : JSON.stringify(draft);
}
