import { IsBoolean, IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { OrDefault } from '../../platform/http/dto-decorators.js';
import { IsInstant } from '../../platform/http/instant.js';
import type { ChannelKind, Interaction } from './turn.models.js';

export class InteractionDto implements Interaction {
  @IsOptional()
  @IsString()
  @MaxLength(100)
  platform: string | null = null;

  @IsOptional()
  @IsString()
  @MaxLength(500)
  external_id: string | null = null;

  @IsOptional()
  @IsString()
  @MaxLength(500)
  handle: string | null = null;

  @IsOptional()
  @IsString()
  @MaxLength(500)
  display_name: string | null = null;

  /** What was said, without the notification around it; null: no body, `""`: said nothing. */
  @IsOptional()
  @IsString()
  body: string | null = null;

  @OrDefault(() => 'unknown')
  @IsIn(['dm', 'group', 'public', 'internal', 'unknown'])
  channel_kind: ChannelKind = 'unknown';

  /** The message only points at what has to be fetched first. */
  @OrDefault(() => false)
  @IsBoolean()
  requires_recon: boolean = false;

  @IsOptional()
  @IsInstant()
  sent_at: string | null = null;
}
