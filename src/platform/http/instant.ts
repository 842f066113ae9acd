import { ValidateBy, type ValidationOptions } from 'class-validator';

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

/** An ISO-8601 instant with its zone, of a day that exists. */
export function isInstant(value: unknown): value is string {
  if (typeof value !== 'string' || !INSTANT.test(value) || Number.isNaN(Date.parse(value))) return false;
  const [year, month, day] = value.slice(0, 10).split('-').map(Number);
  return day! <= new Date(Date.UTC(year!, month, 0)).getUTCDate();
}

export function IsInstant(options?: ValidationOptions): PropertyDecorator {
  return ValidateBy(
    {
      name: 'isInstant',
      validator: {
        validate: isInstant,
        defaultMessage: () => '$property must be an ISO-8601 instant with a zone, e.g. 2026-09-01T09:00:00Z',
      },
    },
    options,
  );
}
