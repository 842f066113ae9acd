export interface FieldProblem {
  /** Dotted path of the field, e.g. `plan.decision` or `turns.3.agent`. */
  path: string;
  message: string;
}

/** The one error that reaches a caller as it is: becomes `application/problem+json` (RFC 9457). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    /** Stable and dotted: `module.reason`. */
    readonly code: string,
    readonly detail: string,
    readonly errors?: FieldProblem[],
  ) {
    super(detail);
    this.name = 'ApiError';
  }
}
