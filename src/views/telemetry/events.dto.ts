import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsNotEmpty, IsOptional, IsString, IsUUID, MaxLength } from 'class-validator';
import { IsInstant } from '../../platform/http/instant.js';
import { PageQuery } from '../../platform/http/page.js';

const lowerCase = ({ value }: { value: unknown }): unknown => (typeof value === 'string' ? value.toLowerCase() : value);

/** What may be asked of events, of the list and of the stream alike. */
export interface EventQuery {
  type?: string;
  agent?: string;
  turn_id?: string;
  since?: string;
}

export class EventsQuery extends PageQuery implements EventQuery {
  /** E.g. `turn.completed`. */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(100)
  type?: string;

  /** Id or handle. */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  agent?: string;

  @IsOptional()
  @Transform(lowerCase)
  @IsUUID('all')
  @ApiProperty({ format: 'uuid', required: false })
  turn_id?: string;

  /** The earliest moment, itself included. */
  @IsOptional()
  @IsInstant()
  since?: string;
}

export class EventStreamQuery implements EventQuery {
  /** E.g. `turn.completed`. */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(100)
  type?: string;

  /** Id or handle. */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  agent?: string;

  @IsOptional()
  @Transform(lowerCase)
  @IsUUID('all')
  @ApiProperty({ format: 'uuid', required: false })
  turn_id?: string;

  /** The earliest moment, itself included: the stream begins with what is stored since then. */
  @IsOptional()
  @IsInstant()
  since?: string;

  /** As the header `Last-Event-ID`, which a page cannot set when it opens a stream; the header goes first. */
  @IsOptional()
  @Transform(lowerCase)
  @IsUUID('all')
  @ApiProperty({ format: 'uuid', required: false })
  last_event_id?: string;

  /** In place of a key: what `POST /events/ticket` answered. */
  @IsOptional()
  @IsString()
  ticket?: string;
}
