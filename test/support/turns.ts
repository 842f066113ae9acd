import { randomUUID } from 'node:crypto';

export type TurnBody = Record<string, unknown> & { turn_id: string; agent: string };

/** A finished turn that is fit to be posted; `changes` overrides fields. */
export function aTurn(changes: Record<string, unknown> = {}): TurnBody {
  return {
    turn_id: randomUUID(),
    agent: 'support-1',
    role: 'support',
    task_description: 'Answer the message',
    plan: { decision: 'plan', summary: '1. look up the order\n2. answer' },
    tool_sequence: ['get_order', 'send_message'],
    review_outcome: 'done',
    started_at: '2026-11-02T09:00:00Z',
    ended_at: '2026-11-02T09:01:00Z',
    interactions: [aMessage()],
    ...changes,
  };
}

export function aMessage(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    platform: 'slack',
    external_id: 'U42',
    display_name: 'Alice',
    body: 'Where is my order? By the way, I prefer short answers.',
    channel_kind: 'dm',
    sent_at: '2026-11-02T08:59:00Z',
    ...changes,
  };
}
