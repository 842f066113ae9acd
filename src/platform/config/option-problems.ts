import { getMetadataStorage, validateSync, type ValidationError } from 'class-validator';
import type { ConfigProblem } from './config-error.js';

/** The names of a block's options, those without a default included. */
export function optionsOf(block: new () => object): string[] {
  const rules = getMetadataStorage().getTargetValidationMetadatas(block, '', false, false);
  return [...new Set(rules.map((rule) => rule.propertyName))];
}

/** Every option of `settings` that breaks its rule and every key that is none, each with its dotted path. */
export function problemsOf(settings: object): ConfigProblem[] {
  const errors = validateSync(settings, {
    whitelist: true,
    forbidNonWhitelisted: true,
    validationError: { target: false, value: false },
  });
  return errors.flatMap((error) => flatten(error, ''));
}

function flatten(error: ValidationError, above: string): ConfigProblem[] {
  const path = above === '' ? error.property : `${above}.${error.property}`;
  const children = error.children ?? [];
  const [kind] = Object.keys(error.constraints ?? {});
  // Of named blocks the one at fault says more than the whole.
  if (kind === undefined || (kind === 'namedBlocks' && children.length > 0)) {
    return children.flatMap((child) => flatten(child, path));
  }
  return [{ path, message: kind === 'whitelistValidation' ? 'is not a known option' : error.constraints![kind]! }];
}
