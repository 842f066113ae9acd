import { Foundation1764600000000 } from './1764600000000-foundation.js';
import { EpisodeOpenings1764680000000 } from './1764680000000-episode-openings.js';
import { EpisodeLifecycle1764690000000 } from './1764690000000-episode-lifecycle.js';
import { Skills1764700000000 } from './1764700000000-skills.js';
import { Counterparties1764710000000 } from './1764710000000-counterparties.js';
import { ExecuteContexts1764720000000 } from './1764720000000-execute-contexts.js';
import { Guidance1764730000000 } from './1764730000000-guidance.js';
import { Promotions1764750000000 } from './1764750000000-promotions.js';
import { Telemetry1764760000000 } from './1764760000000-telemetry.js';
import { PersonalData1764770000000 } from './1764770000000-personal-data.js';
import { ReleasedMemories1764775000000 } from './1764775000000-released-memories.js';

/** In the order in which they run. */
export const migrations = [
  Foundation1764600000000,
  EpisodeOpenings1764680000000,
  EpisodeLifecycle1764690000000,
  Skills1764700000000,
  Counterparties1764710000000,
  ExecuteContexts1764720000000,
  Guidance1764730000000,
  Promotions1764750000000,
  Telemetry1764760000000,
  PersonalData1764770000000,
  ReleasedMemories1764775000000,
];
