import { IsOptional, IsUUID } from 'class-validator';

export class LeaseRelease {
  /** Ends this lease alone, so that a pass that outlived its own does not end its successor's; whichever there is where absent. */
  @IsOptional()
  @IsUUID('all')
  lease_id: string | null = null;
}
