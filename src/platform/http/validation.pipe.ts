import { ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { ApiError, type FieldProblem } from './api-error.js';

export const validationOptions = {
  whitelist: true,
  forbidNonWhitelisted: true,
  forbidUnknownValues: true,
  stopAtFirstError: true,
} as const;

/** One line a field, by its dotted path. */
export function fieldProblems(errors: readonly ValidationError[], parent = ''): FieldProblem[] {
  return errors.flatMap((error) => {
    const path = parent === '' ? error.property : `${parent}.${error.property}`;
    const own = Object.values(error.constraints ?? {}).map((message) => ({ path, message }));
    return [...own, ...fieldProblems(error.children ?? [], path)];
  });
}

export function invalidRequest(errors: FieldProblem[]): ApiError {
  const first = errors[0];
  const detail = first ? `The request is not valid: ${first.path}: ${first.message}.` : 'The request is not valid.';
  return new ApiError(422, 'request.invalid', detail, errors);
}

/** Refuses what does not fit a DTO with 422 `request.invalid`, unknown fields too, so that a typo is seen. */
export function createValidationPipe(): ValidationPipe {
  return new ValidationPipe({
    ...validationOptions,
    transform: true,
    exceptionFactory: (errors) => invalidRequest(fieldProblems(errors)),
  });
}
