import { Injectable, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { ApiError } from './api-error.js';
import { isUuid } from './page.js';

/** A path parameter that is an id: what is no UUID names nothing, so it is a 404. Answers in lower case. */
@Injectable()
export class UuidParam implements PipeTransform<string, string> {
  transform(value: string, metadata: ArgumentMetadata): string {
    if (!isUuid(value)) throw new ApiError(404, 'route.not_found', `${metadata.data ?? 'id'} is not an id.`);
    return value.toLowerCase();
  }
}
