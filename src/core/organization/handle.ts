import { applyDecorators } from '@nestjs/common';
import { IsString, registerDecorator } from 'class-validator';
import { isUuid } from '../../platform/http/page.js';

/** A handle has 1..128 characters, no control character, and is not shaped like a UUID. */
export function isHandle(text: unknown): text is string {
  return typeof text === 'string' && text !== '' && [...text].length <= 128 && !/\p{Cc}/u.test(text) && !isUuid(text);
}

export function IsHandle(): PropertyDecorator {
  return applyDecorators(IsString(), (target: object, property: string | symbol) => {
    registerDecorator({
      name: 'isHandle',
      target: target.constructor,
      propertyName: String(property),
      validator: {
        validate: isHandle,
        defaultMessage: () => '$property must be 1..128 characters, without control characters, and not a UUID',
      },
    });
  });
}
