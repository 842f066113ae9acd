/** What a reader may search: those containers alone, or with `null` all that the reader's own credentials reach. */
export type Containers = readonly string[] | null;

/**
 * The containers that an organisation lists, trimmed, in upper case, each once, sorted. Without a list an agent with
 * credentials of its own searches all that these reach, any other nothing: `undefined`. A list that holds blanks alone is
 * a mistake, not leave to search everything.
 */
export function containersOf(listed: readonly string[], hasOwnCredentials: boolean): Containers | undefined {
  const containers = [...new Set(listed.map((key) => key.trim().toUpperCase()))].filter((key) => key !== '').sort();
  if (containers.length > 0) return containers;
  return listed.length === 0 && hasOwnCredentials ? null : undefined;
}
