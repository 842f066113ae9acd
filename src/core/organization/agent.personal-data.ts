import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { ErasedSubject } from '../personal-data/erased-subject.js';
import { PersonalDataParts } from '../personal-data/personal-data-parts.js';
import { PersonalTables } from '../personal-data/personal-tables.js';

interface PersonRow {
  handle: string;
  display_name: string | null;
  identities: { platform: string; external_id: string }[];
}

/**
 * The registration of an agent, with which it leaves the organisation document too; a turn may register it anew. The people of
 * that document stay, being the operator's own, but what it says of a person is known to be that person's.
 */
@Injectable()
export class AgentPersonalData extends PersonalTables implements OnModuleInit {
  constructor(
    private readonly store: Database,
    private readonly parts: PersonalDataParts,
  ) {
    super(store, [{ name: 'agents', key: { id: 'uuid' }, ofAgent: 'id = $2' }], { stage: 'agents' });
  }

  onModuleInit(): void {
    this.parts.register(this);
  }

  override identify = async (orgId: string, subject: ErasedSubject): Promise<void> => {
    const people = await this.store.query<PersonRow>(
      `select handle, display_name, identities from people where org_id = $1`,
      [orgId],
    );
    for (const person of people) {
      if (!person.identities.some((identity) => subject.is(identity))) continue;
      for (const identity of person.identities) subject.learn(identity, person.display_name, person.handle);
    }
  };
}
