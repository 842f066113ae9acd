import { fence, FENCE_RULE, oneLine } from '../../core/auxiliary/fence.js';
import { screenText } from '../../core/screening/screening-rules.js';
import { withoutFrontMatter } from '../../memories/skills/skill-document.js';
import { clipText } from '../../platform/text/storable-text.js';
import { commonSequence } from './draft-document.js';
import type { SiblingSkill } from './promotion.models.js';

/** Skills that the model sees of a cluster, of different agents first. */
const SKILLS_SHOWN = 8;
/** UTF-16 code units of one skill's body (reference engine, section 12). */
const BODY_LIMIT = 4_000;
const DESCRIPTION_LIMIT = 400;
const TOOLS_SHOWN = 60;
const TOOL_NAME_LIMIT = 100;

export const PROMOTION_SYNTHESIZER_RULES = `Several AI agents of one team have each learned, by themselves, to do much the same work. You write down what they share, as a draft page for the team's knowledge base that a person will review. You are given the skill that each of them wrote for itself.

Answer with one JSON object, or with NOOP:
{"name": "...", "description": "...", "body": "..."}

Answer NOOP where the skills have no procedure in common that a team would gain from: they only happen to call the same tools.

- name: what is done, in 2 to 64 lower-case letters, digits and hyphens, e.g. "rebook-cancelled-flight".
- description: one sentence of at most 200 characters that says what the procedure does and when to use it.
- body: Markdown with exactly these sections:
  ## When to use
  What a request looks like that this procedure fits, and when it does not.
  ## Steps
  Numbered steps in the order on which the skills agree, each naming the tool that it calls, what it needs and what to check before the next.
  ## Pitfalls
  What the skills warn of, above all what more than one of them met. "None seen." where they warn of nothing.

The whole team reads the page, so write what holds for everybody: leave out names of people, user names, e-mail addresses, telephone, order and account numbers, what one person likes or asked for, keys and passwords; say instead where such a value comes from. Where the skills contradict each other, keep to what most of them say and name the difference under Pitfalls. State nothing that no skill says. At most 600 words, in the language of the skills.

${FENCE_RULE}`;

/** The skills of a cluster, for the rules above. Deterministic. */
export function promotionSynthesizerPrompt(members: readonly SiblingSkill[]): string {
  const shown = choice(members);
  const tools = commonSequence(members);
  const all = `${members.length} skills of ${new Set(members.map(({ agentId }) => agentId)).size} agents.`;
  const calls = tools.slice(0, TOOLS_SHOWN).map((tool) => oneLine(tool, TOOL_NAME_LIMIT));
  const rest = tools.length - calls.length;
  return [
    shown.length < members.length ? `${all} Here are ${shown.length} of them.` : all,
    ...shown.map((skill, index) => `Skill ${index + 1}:\n${fence('skill', textOf(skill))}`),
    `Tool calls that they share:\n${fence('tools', [...calls, ...(rest > 0 ? [`(${rest} more)`] : [])].join('\n'))}`,
  ].join('\n\n');
}

function choice(members: readonly SiblingSkill[]): SiblingSkill[] {
  const seen = new Set<string>();
  const [first, further]: [SiblingSkill[], SiblingSkill[]] = [[], []];
  for (const skill of members) {
    (seen.has(skill.agentId) ? further : first).push(skill);
    seen.add(skill.agentId);
  }
  return [...first, ...further].slice(0, SKILLS_SHOWN);
}

/** Stored text that is flagged by now does not reach a prompt, unless an operator has let it through. */
function textOf({ name, description, content, operatorReleased }: SiblingSkill): string {
  const withheld = (text: string): string => {
    const verdict = operatorReleased ? null : screenText(text);
    return verdict?.flagged ? `[withheld: ${verdict.reason}]` : text;
  };
  return [
    `name: ${name}`,
    `description: ${withheld(oneLine(description, DESCRIPTION_LIMIT))}`,
    '',
    withheld(clipText(withoutFrontMatter(content).trim(), BODY_LIMIT)),
  ].join('\n');
}
