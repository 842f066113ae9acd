import { ValidationPipe, type ArgumentMetadata } from '@nestjs/common';
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
    const own = Object.entries(error.constraints ?? {}).map(([rule, message]) => ({
      path,
      message: messageOf(error, rule, message),
    }));
    return [...own, ...fieldProblems(error.children ?? [], path)];
  });
}

function messageOf(error: ValidationError, rule: string, message: string): string {
  if (rule === 'whitelistValidation') return `${error.property} is not a known field`;
  return error.value === undefined ? `${error.property} is required` : message;
}

export function invalidRequest(errors: FieldProblem[]): ApiError {
  const [first, ...others] = errors;
  if (!first) return new ApiError(422, 'request.invalid', 'The request is not valid.', errors);
  const named = first.path === '' || first.message.startsWith(first.path) ? '' : `${first.path}: `;
  const more = others.length > 0 ? ` (and ${others.length} more in errors)` : '';
  return new ApiError(422, 'request.invalid', `The request is not valid: ${named}${first.message}${more}.`, errors);
}

/** Refuses what does not fit a DTO with 422 `request.invalid`, unknown fields too, so that a typo is seen. */
export function createValidationPipe(): ValidationPipe {
  return new BodyValidationPipe({
    ...validationOptions,
    transform: true,
    exceptionFactory: (errors) => invalidRequest(fieldProblems(errors)),
  });
}

/** Says of a body that is no object just that, instead of all the fields that it lacks. */
class BodyValidationPipe extends ValidationPipe {
  override transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const isDto = metadata.type === 'body' && metadata.metatype !== undefined && metadata.metatype !== Object;
    const isOther = value != null && (typeof value !== 'object' || Array.isArray(value));
    if (isDto && isOther) {
      throw invalidRequest([{ path: '', message: 'the body must be a JSON object' }]);
    }
    return super.transform(value, metadata) as Promise<unknown>;
  }
}
