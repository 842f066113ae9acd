import { randomUUID } from 'node:crypto';
import type { ApiClient, Problem } from './api-client.js';

/** The one message that is asked about before and after the lessons. */
export const ASKING = {
  agent: 'platform-1',
  role: 'Platform Engineer',
  sender: { platform: 'slack', external_id: 'U07K2PRM4Q', display_name: 'Priya Raman' },
  body: 'checkout-api 2.13 (PLAT-548) is ready: can you take it to production today and tell #releases?',
  query: 'deploy checkout-api to production',
};

interface PlanContextAnswer {
  prompt: string;
  blocks: { key: string; reason: string }[];
}

/** What the turn engine would put into the plan prompt, and why the other blocks are empty. A turn of its own each time. */
export async function askPlanContext(api: ApiClient): Promise<{ turnId: string; text: string }> {
  const turnId = randomUUID();
  const { status, body } = await api.request<PlanContextAnswer & Problem>(
    'POST',
    `/agents/${ASKING.agent}/plan-context`,
    {
      turn_id: turnId,
      role: ASKING.role,
      task_description: `Message from ${ASKING.sender.display_name} in #releases`,
      interactions: [{ ...ASKING.sender, body: ASKING.body, channel_kind: 'public' }],
      available_tools: [
        'run_pipeline',
        'query_metrics',
        'query_episodes',
        'refresh_memory',
        'use_skill',
        'lookup_colleague',
      ],
      mcp_servers: [],
    },
  );
  if (status !== 200) return { turnId, text: `(${failureOf(status, body)})` };
  const unmatched = body.blocks
    .filter(({ reason }) => reason !== 'selected' && reason !== 'not_configured')
    .map(({ key, reason }) => `- ${key}: ${reason}`);
  const parts = [
    body.prompt.trim() || '(an empty prompt)',
    unmatched.length > 0 ? `Blocks without entries:\n${unmatched.join('\n')}` : '',
  ];
  return { turnId, text: parts.filter(Boolean).join('\n\n') };
}

/** The output of one `query_episodes` call of that turn. */
export async function askEpisodes(api: ApiClient, turnId: string): Promise<string> {
  const { status, body } = await api.request<{ output: string } & Problem>(
    'POST',
    `/agents/${ASKING.agent}/tools/query_episodes`,
    { turn_id: turnId, phase: 'plan', arguments: { query: ASKING.query, limit: 3 } },
  );
  return status === 200 ? body.output : `(${failureOf(status, body)})`;
}

function failureOf(status: number, { detail, title, code }: Problem): string {
  return `answered ${status}: ${detail ?? title ?? code ?? 'no reason given'}`;
}
