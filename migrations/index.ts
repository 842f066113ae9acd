import { Foundation1764600000000 } from './1764600000000-foundation.js';

/** In the order in which they run. */
export const migrations = [Foundation1764600000000];
