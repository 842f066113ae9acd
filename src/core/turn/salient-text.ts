import { boundedText, chronological, labelOf } from './interactions.js';
import type { Interaction } from './turn.models.js';

/**
 * What was said, without the notification's scaffolding; at most 4,000 UTF-16 code units. One body is taken as it
 * is, several are joined in the order sent, each after its sender's name. Where no interaction has a body the task
 * description stands in; where all bodies are empty nothing was said and the text is empty (mission, "Salient-body
 * sourcing").
 */
export function salientText(interactions: readonly Interaction[], taskDescription: string): string {
  const withBody = chronological(interactions).filter((interaction) => interaction.body !== null);
  if (withBody.length === 0) return boundedText(taskDescription);
  const said = withBody.flatMap((interaction) => {
    const body = interaction.body ?? '';
    return body.trim() === '' ? [] : [{ label: labelOf(interaction), body }];
  });
  const [first] = said;
  if (!first) return '';
  if (said.length === 1) return boundedText(first.body);
  return boundedText(said.map(({ label, body }) => (label ? `${label}: ${body}` : body)).join('\n\n'));
}
