import type { ReflectionWorker } from '../../core/turn/extension-points.js';

/** The workers in the order in which they run; composed in the reflection module. */
export class ReflectionWorkers {
  constructor(readonly inOrder: readonly ReflectionWorker[]) {}
}
