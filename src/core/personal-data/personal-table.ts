import type { z } from 'zod';
import type { ErasedSubject } from './erased-subject.js';
import type { ImportContext, ImportOutcome } from './personal-data.models.js';

export type Row = Record<string, unknown>;

/** How the rows of one table are found, redacted, exported and read back. SQL here is the room's own, never a caller's. */
export interface PersonalTable {
  readonly name: string;
  /** The columns that name a row, with the types that they are compared as, e.g. `{ id: 'uuid' }`. */
  readonly key: Readonly<Record<string, string>>;
  /** SQL for the rows of the agent `$2` of the organisation `$1`. @default agent_id = $2. Null: they are no agent's. */
  readonly ofAgent?: string | null;
  /**
   * The column that says which turns a row comes from. Rows of erased turns alone go; a list loses the turns that went.
   * Absent: rows are redacted only.
   */
  readonly origin?: 'turn_id' | 'source_turn_ids';
  /** The column of the turn whose rows are looked at though no name stands in them. @default turn_id where that is the origin */
  readonly turn?: string;
  /** Further lists of turn ids that lose those that went. */
  readonly turnLists?: readonly string[];
  /** Columns of free text, of JSON, and of text that is JSON. */
  readonly texts?: readonly string[];
  readonly json?: readonly string[];
  readonly jsonTexts?: readonly string[];
  /** More than replacing names: the columns that change. Called with the row as the names were replaced in it. */
  redact?(row: Row, subject: ErasedSubject): Row | Promise<Row>;
  /** Columns that follow from others: `search` is given as its tokens, a vector as null so that it is made anew. */
  derive?(row: Row): Row | Promise<Row>;
  /** Where two rows may become the same by being redacted: the later one then goes. */
  readonly unique?: { columns: readonly string[]; where: string };
  readonly exported?: ExportedTable;
}

export interface ExportedTable {
  /** Of its lines, e.g. `diary`. */
  readonly type: string;
  /** Columns that are left out: derived ones, and those that an import sets. */
  readonly omit: readonly string[];
  /** The JSON columns that are lists of texts, and lists of ids; the others hold objects. */
  readonly textLists?: readonly string[];
  readonly idLists?: readonly string[];
  /** Columns of text that may hold an id. */
  readonly idTexts?: readonly string[];
  /** The values that a column may have. */
  readonly values?: Readonly<Record<string, readonly unknown[]>>;
  /** What JSON columns must look like: whoever reads the row relies on it. */
  readonly shapes?: Readonly<Record<string, z.ZodType>>;
  /** Columns whose text is screened, as at every write from outside. */
  screened?(row: Row): readonly string[];
  /** Columns as an import sets them, whatever the line says. */
  stamp?(row: Row, context: ImportContext): Row;
  /** Throws `LineProblem` for what no agent may have; answers where this agent is better off without the row. */
  admit?(row: Row, context: ImportContext): Promise<ImportOutcome | null>;
}

/** For `derive`: a row whose vector is made anew by the job. */
export const NO_VECTOR = { embedding: null, embedding_model: null } as const;
