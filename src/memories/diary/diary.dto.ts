import { Transform } from 'class-transformer';
import { IsBoolean, IsIn, IsOptional, IsString, Matches, MaxLength, ValidateIf } from 'class-validator';
import { IsInstant } from '../../platform/http/instant.js';
import { PageQuery } from '../../platform/http/page.js';
import type { DiaryKind } from './diary.models.js';
import { recommendationStatuses, type RecommendationStatus } from './doc-recommendations.js';

const kinds = ['diary_long', 'diary_short'];
const IsNotBlank = (): PropertyDecorator => (target, property) => {
  IsString()(target, property);
  Matches(/\S/u, { message: '$property must not be blank' })(target, property);
};

export class DiaryQuery extends PageQuery {
  @IsOptional()
  @IsIn(kinds)
  kind?: DiaryKind;

  /** Also what has left retrieval: expired, and superseded by a newer memory. */
  @Transform(({ value }: { value: unknown }) => (value === 'true' ? true : value === 'false' ? false : value))
  @IsBoolean()
  include_expired: boolean = false;

  /** Searches instead of listing: best first, at most `limit`, no cursor. */
  @IsOptional()
  @IsString()
  q?: string;
}

export class DiaryEntryDraft {
  @IsIn(kinds)
  kind: DiaryKind;

  /** Stored verbatim. */
  @IsNotBlank()
  content: string;

  /** For `diary_short`; 30 days from now where absent. */
  @IsOptional()
  @IsInstant()
  ttl_until: string | null = null;

  @IsOptional()
  @IsString()
  @MaxLength(500)
  conversation_id: string | null = null;
}

export class DiaryEntryChange {
  @ValidateIf((change: DiaryEntryChange) => change.content !== undefined)
  @IsNotBlank()
  content?: string;

  /** Of a `diary_short`. */
  @ValidateIf((change: DiaryEntryChange) => change.ttl_until !== undefined)
  @IsInstant()
  ttl_until?: string;
}

export class DocRecommendationsQuery extends PageQuery {
  @IsOptional()
  @IsIn(recommendationStatuses)
  status?: RecommendationStatus;
}

export class DocRecommendationChange {
  @IsIn(recommendationStatuses)
  status: RecommendationStatus;
}
