import { Foundation1764600000000 } from './1764600000000-foundation.js';
import { Skills1764700000000 } from './1764700000000-skills.js';

/** In the order in which they run. */
export const migrations = [Foundation1764600000000, Skills1764700000000];
