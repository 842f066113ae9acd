/** Different values that one label of one metric may take; the rest are counted together. */
const MOST_VALUES = 100;
const WORD = /^[a-z0-9][a-z0-9_.-]{0,63}$/i;

/**
 * Keeps labels few and free of other people's words: what is no word of ours, or comes after too many others, is `other`.
 * Handles, names and messages must not be handed in at all.
 */
export class LabelValues {
  private readonly seen = new Map<string, Set<string>>();

  /** @param label the metric's and the label's name */
  of(label: string, value: string | null): string {
    if (value === null) return 'none';
    if (!WORD.test(value)) return 'other';
    const values = this.seen.get(label) ?? new Set();
    this.seen.set(label, values);
    if (!values.has(value) && values.size >= MOST_VALUES) return 'other';
    values.add(value);
    return value;
  }
}
