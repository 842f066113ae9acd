export interface ConfigProblem {
  /** `PORT`, `learning.reflect.budget_tokens`, `learning.yaml:12`. */
  path: string;
  message: string;
}

/** The service cannot start as it is configured. The message lists every problem on a line of its own; no secret is in it. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly ConfigProblem[]) {
    const lines = problems.map(({ path, message }) => `  ${path}: ${message}`);
    super([`the configuration has ${problems.length} problem${problems.length === 1 ? '' : 's'}`, ...lines].join('\n'));
    this.name = 'ConfigError';
  }
}
