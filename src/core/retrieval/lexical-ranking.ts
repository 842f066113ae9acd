import { rarity, termWeight } from './bm25.js';
import { openingShingles } from './opening.js';

/** Below the usual 0.75: short memories differ little in length. */
const B = 0.4;
const OPENING_B = 0.75;

/**
 * What a row lends to the rows one, two and three places away in its conversation. An answer often stands beside the
 * words it was asked with: this is worth 12 points of recall@10 on LoCoMo (docs/benchmarks.md).
 */
const LENT = [0.6, 0.4, 0.2];

export interface LexicalRow {
  /** Rows with the same value were written in one conversation; null: the row stands alone. */
  conversation: string | null;
  /** Number of tokens. */
  length: number;
  /** Which of the query's terms stand in the row, as numbers from 0, each once. */
  terms: readonly number[];
  /** Tokens of the opening, in order; absent where rows have none. */
  opening?: readonly string[];
}

/**
 * Indices of the rows that have something to do with the query, best first, of equal ones the newest.
 * `rows` are all rows of the scope in the order in which they were written.
 *
 * A row's score is the sum over the query's terms of BM25 with a term frequency of 1 (memories are short). A row that
 * lacks a term borrows it from the nearest row of its conversation within three places, at a discount; borrowing the
 * same term twice gains nothing, so a chatty neighbourhood does not outweigh a row that says all of it.
 *
 * Rows with an opening are also scored by how it resembles the query's, which orders them and adds none: it holds the
 * small words as well, and those stand everywhere.
 *
 * @param opening tokens of the query's opening
 */
export function rankLexically(rows: readonly LexicalRow[], opening: readonly string[] = []): number[] {
  const holders = holdersOfTerms(rows);
  if (holders.size === 0) return [];
  const averageLength = rows.reduce((sum, row) => sum + row.length, 0) / rows.length || 1;
  const neighbours = new Neighbourhoods(rows);
  const scores = new Float64Array(rows.length);

  for (const holding of holders.values()) {
    const rare = rarity(rows.length, holding.length);
    const best = new Map<number, number>();
    for (const index of holding) {
      const length = rows[index]!.length / averageLength;
      const own = termWeight(rare, length, B);
      raise(best, index, own);
      neighbours.around(index, (neighbour, distance) => raise(best, neighbour, own * LENT[distance - 1]!));
    }
    for (const [index, score] of best) scores[index]! += score;
  }

  const found = rows.map((_, index) => index).filter((index) => scores[index]! > 0);
  addOpenings(scores, rows, openingShingles(opening));
  return found.sort((a, b) => scores[b]! - scores[a]! || b - a);
}

function addOpenings(scores: Float64Array, rows: readonly LexicalRow[], query: ReadonlySet<string>): void {
  if (query.size === 0) return;
  const shingles = rows.map(({ opening = [] }) => openingShingles(opening));
  const averageLength = shingles.reduce((sum, { size }) => sum + size, 0) / rows.length;
  const hits = shingles.map((own) => [...query].filter((shingle) => own.has(shingle)));
  const holding = new Map<string, number>();
  for (const shingle of hits.flat()) holding.set(shingle, (holding.get(shingle) ?? 0) + 1);
  hits.forEach((own, index) => {
    const length = shingles[index]!.size / averageLength;
    for (const shingle of own) {
      scores[index]! += termWeight(rarity(rows.length, holding.get(shingle)!), length, OPENING_B);
    }
  });
}

function holdersOfTerms(rows: readonly LexicalRow[]): Map<number, number[]> {
  const holders = new Map<number, number[]>();
  rows.forEach((row, index) => {
    for (const term of row.terms) {
      const known = holders.get(term);
      if (known) known.push(index);
      else holders.set(term, [index]);
    }
  });
  return holders;
}

function raise(best: Map<number, number>, index: number, score: number): void {
  if (score > (best.get(index) ?? 0)) best.set(index, score);
}

/** Where each row stands in its conversation: conversations interleave, so the row before is not the neighbour. */
class Neighbourhoods {
  private readonly conversations = new Map<string, number[]>();
  private readonly positions: number[];

  constructor(private readonly rows: readonly LexicalRow[]) {
    this.positions = rows.map(({ conversation }, index) => {
      if (conversation === null) return 0;
      const members = this.conversations.get(conversation);
      if (!members) this.conversations.set(conversation, [index]);
      return (members?.push(index) ?? 1) - 1;
    });
  }

  around(index: number, visit: (neighbour: number, distance: number) => void): void {
    const { conversation } = this.rows[index]!;
    const members = conversation === null ? undefined : this.conversations.get(conversation);
    if (!members) return;
    const position = this.positions[index]!;
    for (let distance = 1; distance <= LENT.length; distance++) {
      for (const neighbour of [members[position - distance], members[position + distance]]) {
        if (neighbour !== undefined) visit(neighbour, distance);
      }
    }
  }
}
