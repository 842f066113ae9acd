import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { AgentTool, ToolCall, ToolResult } from '../../core/turn/extension-points.js';
import { readArguments, toolDefinition } from '../../core/turn/tool-arguments.js';
import { daysAfter, MAX_TTL_DAYS } from './diary.models.js';
import { ScreenedDiary } from './screened-diary.js';

const TTL_MESSAGE = `ttl_days must be a whole number of days from 1 to ${MAX_TTL_DAYS}; leave it out for a lasting memory`;

const schema = z.object({
  content: z
    .string()
    .refine((content) => content.trim() !== '', 'content must not be empty')
    .describe('One declarative fact that can be understood alone, e.g. "Ana (slack:U1) prefers short summaries".'),
  ttl_days: z
    .int(TTL_MESSAGE)
    .min(1, TTL_MESSAGE)
    .max(MAX_TTL_DAYS, TTL_MESSAGE)
    .optional()
    .describe('Days after which the fact no longer holds. Leave it out for a lasting one.'),
  note: z.string().optional().describe('Why it is worth keeping; shown to operators.'),
});

/** The in-flight writer of the diary (mission, "AgentDiary + reflect_and_persist"). */
@Injectable()
export class ReflectAndPersistTool implements AgentTool {
  readonly definition = toolDefinition({
    name: 'reflect_and_persist',
    description:
      'Use when you learn a preference or fact that later turns should know: state it as a fact, not as an instruction.',
    arguments: schema,
  });
  readonly phases = ['plan'] as const;

  constructor(private readonly diary: ScreenedDiary) {}

  async run(call: ToolCall): Promise<ToolResult> {
    const read = readArguments(schema, call.arguments);
    if (!read.ok) return read.error;
    const { content, ttl_days: days, note } = read.value;
    const now = new Date();
    const draft = await this.diary.prepare({
      orgId: call.orgId,
      agentId: call.agent.id,
      kind: days === undefined ? 'diary_long' : 'diary_short',
      content,
      ttlUntil: days === undefined ? null : daysAfter(now, days),
      source: 'reflect_and_persist',
      turnId: call.turnId,
      conversationId: call.context?.conversationId ?? null,
      metadata: note === undefined ? {} : { note },
      observedAt: now,
    });
    const written = await this.diary.write(draft);
    if (written.status === 'quarantined') {
      return {
        output: `Held for an operator to look at (${written.reason}); not remembered yet.`,
        is_error: false,
        data: { quarantine_id: written.quarantineId, reason: written.reason },
      };
    }
    const { id, kind, ttl_until: until } = written.row;
    const ttl = until?.toISOString() ?? null;
    return {
      output: `${written.created ? 'Remembered' : 'Already remembered'}: ${kind} ${id}${ttl === null ? '' : `, until ${ttl}`}`,
      is_error: false,
      data: { id, kind, ttl_until: ttl, created: written.created },
    };
  }
}
