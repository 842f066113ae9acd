import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { oneLine } from '../../core/auxiliary/fence.js';
import { Members } from '../../core/organization/members.js';
import { unlessFlagged } from '../../core/screening/blocked-text.js';
import type { AgentTool, ToolCall, ToolResult } from '../../core/turn/extension-points.js';
import { readArguments, toolDefinition } from '../../core/turn/tool-arguments.js';
import { colleaguesOf, matching, type Colleague } from './colleagues.js';
import { CounterpartyReader } from './counterparty-reader.js';
import { OBSERVED_PREFACE, profileLines } from './trait-lines.js';

/** Candidates that are listed where a query may mean several. */
const MAX_CANDIDATES = 10;
/** UTF-16 code units of one profile's traits, and of one line of a card. */
const TRAITS_LIMIT = 8_000;
const LINE_LIMIT = 400;

const schema = z.object({
  query: z
    .string()
    .refine((query) => query.trim() !== '', 'query must not be empty')
    .describe('A handle, a name, or an external id such as slack:U42.'),
});

/** Who somebody is, and what the agent itself has noted of them (mission, "CounterpartyProfiler", retrieval). */
@Injectable()
export class LookupColleagueTool implements AgentTool {
  readonly definition = toolDefinition({
    name: 'lookup_colleague',
    description:
      'Use when you are about to write to, or decide about, a person or agent: says who they are and what you noted about them.',
    arguments: schema,
  });
  readonly phases = ['plan', 'execute'] as const;

  constructor(
    private readonly members: Members,
    private readonly reader: CounterpartyReader,
  ) {}

  async run(call: ToolCall): Promise<ToolResult> {
    const read = readArguments(schema, call.arguments);
    if (!read.ok) return read.error;
    const { orgId, agent } = call;
    const known = await this.reader.known({ orgId, agentId: agent.id });
    const colleagues = colleaguesOf(agent.id, await this.members.all(orgId), known);
    const found = matching(read.value.query, colleagues);
    const [only] = found;
    if (!only) {
      return answer('There is nobody of that name in the organisation or among those you have dealt with.', {
        status: 'none',
      });
    }
    return found.length > 1 ? ambiguous(found) : card(only);
  }
}

function ambiguous(found: readonly Colleague[]): ToolResult {
  const shown = found.slice(0, MAX_CANDIDATES);
  const left = found.length - shown.length;
  const lines = shown.map((colleague, index) => `${index + 1}. ${cardLine(colleague)}`);
  return answer(
    [
      'Several may be meant. Ask again with the handle or external id of one:',
      ...lines,
      ...(left > 0 ? [`(${left} more)`] : []),
    ].join('\n'),
    { status: 'ambiguous', candidates: shown.map(identityCard) },
  );
}

function card(colleague: Colleague): ToolResult {
  const colleagueCard = identityCard(colleague);
  if (colleague.isSelf) {
    return answer(`${cardLine(colleague)}\nThat is you.`, { status: 'self', colleague: colleagueCard, observed: [] });
  }
  const observed = colleague.profiles.map(({ view }) => view);
  const noted = observed.flatMap((view) => ['', ...profileLines(view, TRAITS_LIMIT)]);
  const lines = observed.length > 0 ? ['', OBSERVED_PREFACE, ...noted] : ['You have noted nothing about them yet.'];
  return answer([cardLine(colleague), ...lines].join('\n'), { status: 'found', colleague: colleagueCard, observed });
}

function identityCard({ kind, handle, name, role, unit, leads, identities }: Colleague): Record<string, unknown> {
  return { kind, handle, name, role, unit, leads, identities };
}

/** e.g. `Bob Roe (person of the organisation, handle bob, slack:U1)`. */
function cardLine({ kind, handle, name, role, unit, leads, identities }: Colleague): string {
  const addresses = identities.map(({ platform, external_id: id }) => `${platform || 'unknown'}:${id}`);
  const facts = [
    { agent: 'agent of the organisation', person: 'person of the organisation', outside: 'outside person' }[kind],
    ...(handle ? [`handle ${handle}`] : []),
    ...(role === null ? [] : [`role ${role}`]),
    ...(unit === null ? [] : [`unit ${unit}`]),
    ...(leads.length > 0 ? [`leads ${leads.join(', ')}`] : []),
    ...addresses,
  ];
  const called = name ?? handle ?? addresses[0] ?? '(unknown)';
  return unlessFlagged(oneLine(`${called} (${facts.join(', ')})`, LINE_LIMIT));
}

function answer(output: string, data: Record<string, unknown>): ToolResult {
  return { output, is_error: false, data };
}
