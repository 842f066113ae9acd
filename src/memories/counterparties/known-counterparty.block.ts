import { Injectable } from '@nestjs/common';
import type { BlockResult, PlanBlock, PlanContext } from '../../core/turn/extension-points.js';
import { identityOf, mergeBySender } from '../../core/turn/interactions.js';
import { CounterpartyReader } from './counterparty-reader.js';
import { OBSERVED_PREFACE, profileLines } from './trait-lines.js';

/** UTF-16 code units of one sender's traits, and of the whole block. */
const TRAITS_LIMIT = 1_200;
const BLOCK_LIMIT = 6_000;

/**
 * `## Known counterparty`: one block for each distinct sender of the trigger whom the agent has a profile of, in the
 * order in which they spoke. It costs two reads, so a thin trigger has it too.
 */
@Injectable()
export class KnownCounterpartyBlock implements PlanBlock {
  readonly key = 'counterparty';
  readonly heading = '## Known counterparty';

  constructor(private readonly reader: CounterpartyReader) {}

  async resolve({ orgId, agent, interactions }: PlanContext): Promise<BlockResult> {
    const senders = mergeBySender(interactions).map(identityOf);
    if (senders.length === 0) return { text: '', selection_count: 0, reason: 'not_applicable' };
    const profiles = await this.reader.ofSenders({ orgId, agentId: agent.id }, senders);
    if (profiles.length === 0) return { text: '', selection_count: 0, reason: 'nothing_stored' };
    const parts: string[] = [];
    let length = OBSERVED_PREFACE.length;
    for (const profile of profiles) {
      const part = profileLines(profile, TRAITS_LIMIT).join('\n');
      length += 2 + part.length;
      if (length > BLOCK_LIMIT) break;
      parts.push(part);
    }
    const left = profiles.length - parts.length;
    const more = left === 0 ? [] : [`${left} more senders are known to you: lookup_colleague shows what you noted.`];
    return {
      text: [OBSERVED_PREFACE, ...parts, ...more].join('\n\n'),
      selection_count: parts.length,
      reason: 'selected',
    };
  }
}
