import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import type { ScopeName } from './principal.js';

export const SCOPE = 'agent-learning:scope';

/** The scope that a key needs for a route; `admin` holds every other. A route without one needs `admin`. */
export const Scope = (scope: ScopeName): CustomDecorator => SetMetadata(SCOPE, scope);

/** A route that needs no key: it holds no data. Its path must also be listed in `open-paths.ts`. */
export const Open = (): CustomDecorator => SetMetadata(SCOPE, 'open');
