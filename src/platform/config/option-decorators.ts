import { applyDecorators } from '@nestjs/common';
import { Type } from 'class-transformer';
import { IsIn, IsObject, IsOptional, Matches, ValidateBy, ValidateNested } from 'class-validator';

/** One option's rule: `message` follows the option's path in the boot error, so it starts with a verb. */
function rule(name: string, message: string, holds: (value: unknown) => boolean): PropertyDecorator {
  return ValidateBy({ name, validator: { validate: holds, defaultMessage: () => message } });
}

/** A whole number from `min` to `max`. */
export function Whole(min: number, max: number): PropertyDecorator {
  return rule('whole', `must be a whole number from ${min} to ${max}`, (value) => {
    return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
  });
}

/** A number from `min` to `max`, fractions allowed. */
export function Amount(min: number, max: number): PropertyDecorator {
  return rule('amount', `must be a number from ${min} to ${max}`, (value) => {
    return typeof value === 'number' && value >= min && value <= max;
  });
}

export function Switch(): PropertyDecorator {
  return rule('switch', 'must be true or false', (value) => typeof value === 'boolean');
}

/** A string of 1 to `max` characters that is not blank. */
export function Words(max = 1_000): PropertyDecorator {
  return rule('words', `must be a text of 1 to ${max} characters`, (value) => {
    return typeof value === 'string' && value.trim() !== '' && value.length <= max;
  });
}

export function OneOf(choices: readonly string[]): PropertyDecorator {
  return IsIn(choices, { message: `must be one of ${choices.join(', ')}` });
}

/** An http(s) address without a user name or password: `fetch` refuses those, and they would end up in logs. */
export function HttpUrl(): PropertyDecorator {
  return rule('httpUrl', 'must be an http or https address without user name, password, query or fragment', (value) => {
    if (typeof value !== 'string' || !URL.canParse(value)) return false;
    const url = new URL(value);
    const bare = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
    return bare && (url.protocol === 'http:' || url.protocol === 'https:');
  });
}

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,254}$/;

/** The name of an environment variable, never the secret itself. */
export function EnvName(): PropertyDecorator {
  return Matches(ENV_NAME, { message: 'must be the name of an environment variable, not the secret itself' });
}

/** A mapping whose every value passes `holds`. */
export function MapOf(what: string, holds: (value: unknown) => boolean): PropertyDecorator {
  return rule('mapOf', `must map names to ${what}`, (value) => {
    return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(holds);
  });
}

export function isEnvNameList(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string' && ENV_NAME.test(name));
}

/** A block of further options. */
export function Block(block: () => new () => object): PropertyDecorator {
  return applyDecorators(
    IsObject({ message: 'must be a block of options' }),
    ValidateNested({ message: 'must be a block of options' }),
    Type(block),
  );
}

/** Named blocks of the same options; the property is declared as a `Map`. */
export function NamedBlocks(block: () => new () => object): PropertyDecorator {
  return applyDecorators(
    rule('namedBlocks', 'must map names to blocks of options', (value) => {
      return value instanceof Map && [...value.values()].every((item) => item instanceof block());
    }),
    ValidateNested({ message: 'must be a block of options' }),
    Type(block),
  );
}

/** May be left out; there is no default. */
export function Unset(): PropertyDecorator {
  return IsOptional();
}
