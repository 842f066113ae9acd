import { clipText } from '../../platform/text/storable-text.js';
import type { Interaction } from './turn.models.js';

/** UTF-16 code units of one sender's joined messages, and of a salient text. */
export const SALIENT_TEXT_LIMIT = 4_000;

const LABEL_LIMIT = 200;
const TRUNCATED = ' … [truncated]';

type Identity = Pick<Interaction, 'platform' | 'external_id' | 'handle' | 'display_name'>;

/** By what a sender is told from others; `''` for what is not known. */
export interface SenderIdentity {
  platform: string;
  externalId: string;
  handle: string;
}

/** The sender's identity without the space around it: space alone is no name. */
export function identityOf(sender: Pick<Identity, 'platform' | 'external_id' | 'handle'>): SenderIdentity {
  return {
    platform: sender.platform?.trim() ?? '',
    externalId: sender.external_id?.trim() ?? '',
    handle: sender.handle?.trim() ?? '',
  };
}

/** True where the sender can be told from others: it has a handle or an external id. */
export function isIdentifiable(sender: Pick<Identity, 'external_id' | 'handle'>): boolean {
  return Boolean(sender.handle?.trim() || sender.external_id?.trim());
}

/** How a sender is called: display name, else handle, else external id, on one line; `''` where there is none. */
export function labelOf(sender: Identity): string {
  return oneLine(sender.display_name) || oneLine(sender.handle) || oneLine(sender.external_id);
}

/** `Label (platform:external_id)`; without an external id the label alone; without a name `platform:external_id`. */
export function describe(sender: Identity): string {
  const externalId = oneLine(sender.external_id);
  const name = oneLine(sender.display_name) || oneLine(sender.handle);
  if (!externalId) return name;
  const address = `${oneLine(sender.platform) || 'unknown'}:${externalId}`;
  return name ? `${name} (${address})` : address;
}

/** True where any part of the trigger is a mere pointer: the thin-trigger gate of the whole turn. */
export function requiresRecon(interactions: readonly Interaction[]): boolean {
  return interactions.some((interaction) => interaction.requires_recon);
}

/**
 * In the order in which they were sent. One without a time stays behind the one it was posted after; equal times
 * keep the posted order.
 */
export function chronological(interactions: readonly Interaction[]): Interaction[] {
  let latest = Number.NEGATIVE_INFINITY;
  return interactions
    .map((interaction) => {
      if (interaction.sent_at !== null) latest = Date.parse(interaction.sent_at);
      return { interaction, time: latest };
    })
    .sort((a, b) => (a.time === b.time ? 0 : a.time - b.time))
    .map(({ interaction }) => interaction);
}

/** The messages of one sender, each with its place in the trigger. */
interface Sender extends Omit<SenderIdentity, 'handle'> {
  handles: Set<string>;
  messages: { place: number; message: Interaction }[];
}

/**
 * One interaction a distinct identifiable sender, in first-seen order: bodies joined chronologically by a blank
 * line and bounded, names filled from whichever message had them. Two messages are of one sender if the platform is
 * the same and the external id is; where one of them has no external id, the handle decides. Two external ids under one
 * handle are two senders; what has that handle alone then counts as the later one's.
 */
export function mergeBySender(interactions: readonly Interaction[]): Interaction[] {
  const senders: Sender[] = [];
  for (const [place, message] of interactions.entries()) {
    const identity = identityOf(message);
    if (!identity.externalId && !identity.handle) continue;
    const known = findSender(senders, identity);
    const sender = known ?? { ...identity, handles: new Set<string>(), messages: [] };
    if (!known) senders.push(sender);
    sender.externalId ||= identity.externalId;
    if (identity.handle) sender.handles.add(identity.handle);
    sender.messages.push({ place, message });
    if (identity.externalId) absorbHandle(senders, sender, identity);
  }
  return senders
    .map(({ messages }) => messages.sort((a, b) => a.place - b.place))
    .sort(([a], [b]) => a!.place - b!.place)
    .map((messages) => merged(messages.map(({ message }) => message)));
}

function findSender(senders: readonly Sender[], { platform, externalId, handle }: SenderIdentity): Sender | undefined {
  const there = senders.filter((sender) => sender.platform === platform);
  const byId = externalId ? there.find((sender) => sender.externalId === externalId) : undefined;
  const mayShareHandle = (sender: Sender): boolean => !externalId || !sender.externalId;
  return byId ?? there.findLast((sender) => handle && mayShareHandle(sender) && sender.handles.has(handle));
}

/** A message that has both shows that who was known by the handle alone is this sender. */
function absorbHandle(senders: Sender[], sender: Sender, { platform, handle }: SenderIdentity): void {
  const index = senders.findIndex(
    (other) => other !== sender && other.platform === platform && !other.externalId && other.handles.has(handle),
  );
  if (index === -1) return;
  const [other] = senders.splice(index, 1);
  sender.messages.push(...other!.messages);
  other!.handles.forEach((known) => sender.handles.add(known));
}

/** At most `SALIENT_TEXT_LIMIT` code units, with a mark at the end where something was cut. */
export function boundedText(text: string): string {
  if (text.length <= SALIENT_TEXT_LIMIT) return text;
  return clipText(text, SALIENT_TEXT_LIMIT - TRUNCATED.length) + TRUNCATED;
}

function merged(posted: readonly Interaction[]): Interaction {
  const messages = chronological(posted);
  const last = (pick: (message: Interaction) => string | null): string | null =>
    messages.map(pick).findLast((value) => Boolean(value?.trim())) ?? null;
  const bodies = messages.map((message) => message.body).filter((body) => body !== null);
  const kinds = new Set(messages.map((message) => message.channel_kind));
  const [onlyKind] = kinds;
  return {
    platform: last((message) => message.platform),
    external_id: last((message) => message.external_id),
    handle: last((message) => message.handle),
    display_name: last((message) => message.display_name),
    body: bodies.length === 0 ? null : boundedText(bodies.filter((body) => body.trim() !== '').join('\n\n')),
    channel_kind: kinds.size === 1 && onlyKind ? onlyKind : 'unknown',
    requires_recon: requiresRecon(messages),
    sent_at: last((message) => message.sent_at),
  };
}

/** Names come from outside: a line break in one must not look like another sender's line. */
function oneLine(text: string | null): string {
  return clipText((text ?? '').replace(/\s+/gu, ' ').trim(), LABEL_LIMIT);
}
