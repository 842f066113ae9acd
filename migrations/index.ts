import { Foundation1764600000000 } from './1764600000000-foundation.js';
import { EpisodeOpenings1764680000000 } from './1764680000000-episode-openings.js';

/** In the order in which they run. */
export const migrations = [Foundation1764600000000, EpisodeOpenings1764680000000];
