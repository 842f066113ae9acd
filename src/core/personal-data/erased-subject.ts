import { namePattern, roughSqlPattern, searchableNames } from './name-pattern.js';

/** Whom the operator asked to erase; exactly one of the two is given. */
export interface SubjectRequest {
  platform: string;
  external_id?: string | null;
  handle?: string | null;
}

interface Named {
  platform: string;
  external_id: string;
  handle: string;
}

/**
 * A person who is erased: the identities by which rows are theirs, and the names by which they are called. An external id is
 * somebody; a handle is only where no external id stands beside it, because handles are given to others in time, or where it
 * is what the operator asked for.
 */
export class ErasedSubject {
  private readonly externalIds = new Set<string>();
  private readonly handles = new Set<string>();
  private readonly names = new Set<string>();
  private readonly requestedHandle: string | null;
  private pattern: ReturnType<typeof namePattern> | undefined;
  private readonly turns = new Map<string, { isSole: boolean }>();

  constructor(request: SubjectRequest) {
    const { platform, externalId, handle } = identityOf({
      platform: request.platform,
      external_id: request.external_id ?? null,
      handle: request.handle ?? null,
    });
    this.requestedHandle = externalId ? null : keyOf(platform, handle);
    this.learn({ platform, external_id: externalId, handle });
  }

  /** How much is known; it grows until all parts have said what they know. */
  get size(): number {
    return this.externalIds.size + this.handles.size + this.names.size;
  }

  /** As `[platform, value]`, for queries. */
  identities(): { externalIds: [string, string][]; handles: [string, string][] } {
    const pairs = (keys: Set<string>): [string, string][] =>
      [...keys].map((key) => JSON.parse(key) as [string, string]);
    return { externalIds: pairs(this.externalIds), handles: pairs(this.handles) };
  }

  /** Takes in an identity that is the subject's, with all that names it. */
  learn(identity: Partial<Named>, ...names: (string | null | undefined)[]): void {
    const { platform, externalId, handle } = identityOf({
      platform: identity.platform ?? null,
      external_id: identity.external_id ?? null,
      handle: identity.handle ?? null,
    });
    if (externalId) this.externalIds.add(keyOf(platform, externalId));
    if (handle) this.handles.add(keyOf(platform, handle));
    for (const name of [externalId, handle, ...names]) if (name?.trim()) this.names.add(name.trim());
    this.pattern = undefined;
  }

  /** Turns in which nobody else spoke: what was learned from them alone goes. */
  get soleTurnIds(): string[] {
    return [...this.turns].filter(([, { isSole }]) => isSole).map(([id]) => id);
  }

  /** Turns in which others spoke too. */
  get mixedTurnIds(): string[] {
    return [...this.turns].filter(([, { isSole }]) => !isSole).map(([id]) => id);
  }

  isMixed(turnId: unknown): boolean {
    return this.turns.get(turnId as string)?.isSole === false;
  }

  /** Takes in who spoke in a turn; one without the subject is none of this erasure's. */
  spokeIn(turnId: string, senders: readonly Parameters<ErasedSubject['is']>[0][]): void {
    if (!senders.some((sender) => this.is(sender))) return;
    const isSole = (this.turns.get(turnId)?.isSole ?? true) && senders.every((sender) => this.is(sender));
    this.turns.set(turnId, { isSole });
  }

  /** Before the parts are asked again, as more is known. */
  forgetTurns(): void {
    this.turns.clear();
  }

  /** Whether a sender is the subject. */
  is(sender: { platform?: unknown; external_id?: unknown; handle?: unknown }): boolean {
    const { platform, externalId, handle } = identityOf({
      platform: textOf(sender.platform),
      external_id: textOf(sender.external_id),
      handle: textOf(sender.handle),
    });
    if (externalId && this.externalIds.has(keyOf(platform, externalId))) return true;
    if (!handle) return false;
    const key = keyOf(platform, handle);
    return externalId ? key === this.requestedHandle : this.handles.has(key);
  }

  redact(text: string): string {
    this.pattern ??= namePattern(searchableNames(this.names));
    return this.pattern?.replace(text) ?? text;
  }

  /**
   * A JSON value without the subject: entries of lists that are of it go, its names in texts and keys are replaced. What names
   * another sender stays as it is, though the names be alike.
   */
  redactJson(value: unknown): unknown {
    if (typeof value === 'string') return this.redact(value);
    if (Array.isArray(value)) {
      return value.filter((item) => !isSender(item) || !this.is(item)).map((item) => this.redactJson(item));
    }
    if (value === null || typeof value !== 'object') return value;
    const isOther = isSender(value) && !this.is(value);
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) =>
        isOther && SENDER_FIELDS.has(key) ? [key, item] : [this.redact(key), this.redactJson(item)],
      ),
    );
  }

  /** For `text ~ pattern`: finds every row that may have to be redacted. Null where nothing can be looked for. */
  get sqlPattern(): string | null {
    return roughSqlPattern(searchableNames(this.names));
  }
}

const SENDER_FIELDS = new Set(['platform', 'external_id', 'handle', 'display_name']);

function isSender(value: unknown): value is Record<string, unknown> {
  return (
    value !== null && typeof value === 'object' && 'platform' in value && ('external_id' in value || 'handle' in value)
  );
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Without the space around it: space alone is no name. */
function identityOf(sender: { platform: string | null; external_id: string | null; handle: string | null }): {
  platform: string;
  externalId: string;
  handle: string;
} {
  return {
    platform: sender.platform?.trim() ?? '',
    externalId: sender.external_id?.trim() ?? '',
    handle: sender.handle?.trim() ?? '',
  };
}

function keyOf(platform: string, value: string): string {
  return JSON.stringify([platform, value]);
}
