import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { AgentTool, ToolCall, ToolResult } from '../../core/turn/extension-points.js';
import { readArguments, toolDefinition } from '../../core/turn/tool-arguments.js';
import { ScreenedOnboarding } from './screened-onboarding.js';

/** Characters of a summary: some paragraphs; pages themselves belong to the knowledge base. */
const SUMMARY_LIMIT = 4_000;
const TOO_LONG = `summary must have at most ${SUMMARY_LIMIT} characters: say in short what you learned`;

const schema = z.object({
  summary: z
    .string()
    .max(SUMMARY_LIMIT, TOO_LONG)
    .refine((summary) => summary.trim() !== '', 'summary must not be empty')
    .describe('What you learned about your organisation, your units and your role, in a few sentences.'),
});

/** Ends the first-turn onboarding of the agent for its present place (mission, "Prompt scaffolding"). */
@Injectable()
export class MarkOnboardedTool implements AgentTool {
  readonly definition = toolDefinition({
    name: 'mark_onboarded',
    description:
      'Use when you have read the Onboarding pages that First-turn onboarding names: you are not asked again.',
    arguments: schema,
  });
  readonly phases = ['plan'] as const;

  constructor(private readonly onboarding: ScreenedOnboarding) {}

  async run(call: ToolCall): Promise<ToolResult> {
    const read = readArguments(schema, call.arguments);
    if (!read.ok) return read.error;
    const { orgId, agent, turnId } = call;
    const marked = await this.onboarding.mark({ orgId, agentId: agent.id, turnId, summary: read.value.summary });
    if (marked.status === 'quarantined') {
      const { quarantineId, reason } = marked;
      return {
        output: `Held for an operator to look at (${reason}); you are not marked as onboarded yet.`,
        is_error: false,
        data: { quarantine_id: quarantineId, reason },
      };
    }
    return {
      output: 'You are marked as onboarded. You will be asked again only if your place in the organisation changes.',
      is_error: false,
      data: { chain_hash: marked.chainHash },
    };
  }
}
