import { ApiProperty } from '@nestjs/swagger';
import { IsNotEmpty, IsString, MaxLength, ValidateIf } from 'class-validator';

/** Whom to erase; exactly one of `external_id` and `handle`. */
export class ErasureDto {
  /** As the turns name it, e.g. `slack`; empty where they name none. */
  @IsString()
  @MaxLength(500)
  platform: string;

  @ValidateIf(({ external_id, handle }: ErasureDto) => (external_id ?? null) !== null || (handle ?? null) === null)
  @IsString()
  @IsNotEmpty()
  @ApiProperty({ type: 'string', nullable: true, required: false })
  external_id?: string | null;

  @ValidateIf(({ handle }: ErasureDto) => (handle ?? null) !== null)
  @IsString()
  @IsNotEmpty()
  @ApiProperty({ type: 'string', nullable: true, required: false })
  handle?: string | null;
}

/** What an erasure did. */
export class ErasureReceiptDto {
  /** Rows that were removed or redacted, by table. */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'integer' } })
  tables: Record<string, number>;
}
