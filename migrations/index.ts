import { Foundation1764600000000 } from './1764600000000-foundation.js';
import { Counterparties1764710000000 } from './1764710000000-counterparties.js';

/** In the order in which they run. */
export const migrations = [Foundation1764600000000, Counterparties1764710000000];
