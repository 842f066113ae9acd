import type { ErasedSubject } from './erased-subject.js';

/** One agent, of which everything is exported or erased. */
export interface AgentScope {
  orgId: string;
  agentId: string;
}

/** What an erasure is of: all that an agent has, or all that comes from one person in an organisation. */
export type ErasureScope = { agent: AgentScope } | { orgId: string; subject: ErasedSubject };

/** Rows that were removed or redacted, by table. */
export type ErasureCounts = Record<string, number>;

/** One row as it stands in an export: its type and its columns. */
export type ExportLine = { type: string } & Record<string, unknown>;

/** What an import made of a line that is well-formed. */
export type ImportOutcome =
  { status: 'imported' } | { status: 'skipped'; reason: string } | { status: 'quarantined'; reason: string };

export interface ImportContext extends AgentScope {
  handle: string;
  role: string;
  /** The id of a row in the file as it is called here: another agent's file gets ids of its own. */
  idOf(id: string): string;
  /** False for a write that an operator has released from quarantine. */
  screened: boolean;
}

/** A line that cannot be imported; the message says what is wrong with it. */
export class LineProblem extends Error {}

/** In which order parts are erased: what is found through turns goes before them, and agents go last. */
export type ErasureStage = 'derived' | 'turns' | 'agents';

/** What a room keeps of agents and people. Every room that stores anything registers one; a table that none names is refused by a test. */
export interface PersonalData {
  readonly tables: readonly string[];
  readonly stage: ErasureStage;
  /** The types of its lines, in the order in which they are written and read. */
  readonly lineTypes: readonly string[];

  /**
   * Adds the names and identities that its rows know the subject by, and the turns in which it spoke. Called again until no
   * part adds a name.
   */
  identify?(orgId: string, subject: ErasedSubject): Promise<void>;

  /** All rows of the agent that are worth moving, oldest key first. Joins the running transaction. */
  export(scope: AgentScope): AsyncIterable<ExportLine>;

  /** Writes one line; joins the running transaction. Throws `LineProblem`. */
  import(context: ImportContext, line: ExportLine): Promise<ImportOutcome>;

  /** Joins the running transaction, which holds the erasure gate of the organisation. */
  erase(scope: ErasureScope): Promise<ErasureCounts>;
}
