import { Foundation1764600000000 } from './1764600000000-foundation.js';
import { Telemetry1764760000000 } from './1764760000000-telemetry.js';

/** In the order in which they run. */
export const migrations = [Foundation1764600000000, Telemetry1764760000000];
