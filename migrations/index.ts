import { Foundation1764600000000 } from './1764600000000-foundation.js';
import { EpisodeLifecycle1764690000000 } from './1764690000000-episode-lifecycle.js';

/** In the order in which they run. */
export const migrations = [Foundation1764600000000, EpisodeLifecycle1764690000000];
