import { IsIn, IsOptional, IsString } from 'class-validator';
import type { ReviewOutcome } from '../../core/turn/turn.models.js';
import { PageQuery } from '../../platform/http/page.js';

export class EpisodesQuery extends PageQuery {
  @IsOptional()
  @IsIn(['raw', 'compacted'])
  kind?: 'raw' | 'compacted';

  @IsOptional()
  @IsIn(['done', 'failed', 'self_iterate'])
  outcome?: ReviewOutcome;

  /** Searches instead of listing: best first, at most `limit`, no cursor. */
  @IsOptional()
  @IsString()
  q?: string;
}
