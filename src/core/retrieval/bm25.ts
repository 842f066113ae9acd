/** Okapi BM25 (Robertson and Zaragoza 2009) with a term frequency of 1: what is searched here is short. */
const K1 = 1.2;

/** How rare a term is that stands in `holding` of `rows`: the inverse document frequency, above 0. */
export function rarity(rows: number, holding: number): number {
  return Math.log(1 + (rows - holding + 0.5) / (holding + 0.5));
}

/**
 * What a term that is found counts for.
 *
 * @param length of the row against the average, 1 for an average one
 * @param b how much of the length is held against the row, 0..1
 */
export function termWeight(rarityOfTerm: number, length: number, b: number): number {
  return (rarityOfTerm * (K1 + 1)) / (1 + K1 * (1 - b + b * length));
}
