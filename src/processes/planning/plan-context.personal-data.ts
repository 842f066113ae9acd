import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { ErasedSubject } from '../../core/personal-data/erased-subject.js';
import { PersonalDataParts } from '../../core/personal-data/personal-data-parts.js';
import type { Row } from '../../core/personal-data/personal-table.js';
import { PersonalTables } from '../../core/personal-data/personal-tables.js';
import { salientText } from '../../core/turn/salient-text.js';
import type { Interaction } from '../../core/turn/turn.models.js';
import { Database } from '../../platform/database/database.js';

interface StoredRequest {
  taskDescription: string;
  interactions: Interaction[];
}

interface Rendered {
  prompt: string;
  blocks: { key: string; heading: string; text: string; hit: boolean; bytes: number; selection_count: number }[];
}

/** The blocks that are made of what was said, or of who said it. */
const ABOUT_PEOPLE = new Set(['personal_memory', 'similar_prior_work', 'counterparty']);

/** What turns under way were told; swept after a week, so it is not exported. */
@Injectable()
export class PlanContextPersonalData extends PersonalTables implements OnModuleInit {
  constructor(
    private readonly store: Database,
    private readonly parts: PersonalDataParts,
  ) {
    super(store, [
      {
        name: 'plan_contexts',
        key: { agent_id: 'uuid', turn_id: 'uuid' },
        origin: 'turn_id',
        texts: ['conversation_id'],
        json: ['request', 'shown'],
        jsonTexts: ['rendered'],
        redact: withoutTheirProfile,
      },
      {
        name: 'execute_contexts',
        key: { agent_id: 'uuid', turn_id: 'uuid', iteration: 'integer' },
        origin: 'turn_id',
        jsonTexts: ['rendered'],
      },
    ]);
  }

  onModuleInit(): void {
    this.parts.register(this);
  }

  /** A turn that was asked for and never posted has its senders here alone. */
  override identify = async (orgId: string, subject: ErasedSubject): Promise<void> => {
    const { externalIds, handles } = subject.identities();
    const rows = await this.store.query<{ turn_id: string; senders: Interaction[] }>(
      `select turn_id, request -> 'interactions' as senders from plan_contexts
       where org_id = $1 and exists (
         select from jsonb_array_elements(request -> 'interactions') as said(sender)
         where btrim(sender ->> 'external_id') = any($2::text[]) or btrim(sender ->> 'handle') = any($3::text[]))`,
      [orgId, externalIds.map(([, value]) => value), handles.map(([, value]) => value)],
    );
    for (const { turn_id: turnId, senders } of rows) {
      for (const sender of senders) {
        if (!subject.is(sender)) continue;
        const { platform, external_id: externalId, handle } = sender;
        subject.learn(
          { platform: platform ?? '', external_id: externalId ?? '', handle: handle ?? '' },
          sender.display_name,
        );
      }
      const identifiable = senders.filter((sender) => sender.external_id?.trim() || sender.handle?.trim());
      subject.spokeIn(turnId, identifiable);
    }
  };
}

/** The salient text is the others' alone, and the blocks go that may quote or describe the one who went. */
function withoutTheirProfile(row: Row, subject: ErasedSubject): Row {
  if (!subject.isMixed(row.turn_id)) return { rendered: counted(row.rendered as string) };
  const request = row.request as StoredRequest;
  return {
    request: { ...request, salientText: salientText(request.interactions, request.taskDescription) },
    rendered: counted(row.rendered as string, ABOUT_PEOPLE),
  };
}

/** The rendered answer with its sizes and its prompt as its blocks are now; those of `emptied` are hidden. */
function counted(rendered: string, emptied: ReadonlySet<string> = new Set()): string {
  const answer = JSON.parse(rendered) as Rendered;
  const blocks = answer.blocks.map((block) =>
    emptied.has(block.key)
      ? { ...block, text: '', hit: false, bytes: 0, selection_count: 0 }
      : { ...block, bytes: Buffer.byteLength(block.text) },
  );
  const prompt = blocks.filter(({ text }) => text !== '').map(({ heading, text }) => `${heading}\n\n${text}`);
  return JSON.stringify({ ...answer, prompt: prompt.join('\n\n'), blocks });
}
