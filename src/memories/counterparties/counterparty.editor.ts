import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { ApiError } from '../../platform/http/api-error.js';
import { invalidRequest } from '../../platform/http/validation.pipe.js';
import type { CounterpartyChange } from './counterparties.dto.js';
import { CounterpartyProfiles } from './counterparty-profiles.js';
import { profileView, type ProfileRef, type ProfileView } from './counterparty.models.js';
import { ScreenedCounterparties } from './screened-counterparties.js';
import { readTraitEdit } from './trait-edit.js';

/** What an operator may do to what an agent knows of its counterparties; 404 `counterparty.not_found` for no profile of it. */
@Injectable()
export class CounterpartyEditor {
  constructor(
    private readonly database: Database,
    private readonly profiles: CounterpartyProfiles,
    private readonly screened: ScreenedCounterparties,
  ) {}

  /** The profile, or the one that it was linked to. */
  async get(ref: ProfileRef): Promise<ProfileView> {
    const found = await this.profiles.find(ref);
    if (!found) throw notFound();
    return profileView(found);
  }

  async change(
    ref: ProfileRef,
    { traits, name }: CounterpartyChange,
  ): Promise<{ profile: ProfileView } | { quarantine_id: string; reason: string }> {
    if (traits === undefined && name === undefined) return { profile: await this.get(ref) };
    const change = {
      ...(traits === undefined ? {} : { traits: readTraitEdit(traits) }),
      ...(name === undefined ? {} : { name: name === null ? null : nameOf(name) }),
    };
    const result = await this.database.transaction(() => this.screened.edit(ref, change));
    if (!result) throw notFound();
    if (result.status === 'quarantined') return { quarantine_id: result.quarantineId, reason: result.reason };
    return { profile: profileView(result.row) };
  }

  async remove(ref: ProfileRef): Promise<void> {
    if (!(await this.profiles.remove(ref))) throw notFound();
  }

  async link(ref: ProfileRef, otherId: string): Promise<ProfileView> {
    if (ref.id === otherId) throw invalidRequest([{ path: 'profile_id', message: 'must name another profile' }]);
    const row = await this.profiles.link(ref, otherId);
    if (!row) throw notFound();
    return profileView(row);
  }
}

function nameOf(name: string): string {
  const line = name.replace(/\s+/gu, ' ').trim();
  if (line === '') throw invalidRequest([{ path: 'name', message: 'must not be blank' }]);
  return line;
}

function notFound(): ApiError {
  return new ApiError(404, 'counterparty.not_found', 'The agent has no such profile.');
}
