import { Foundation1764600000000 } from './1764600000000-foundation.js';
import { Guidance1764730000000 } from './1764730000000-guidance.js';

/** In the order in which they run. */
export const migrations = [Foundation1764600000000, Guidance1764730000000];
