import { Controller, Get, Logger } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { AuxiliaryModel } from '../../core/auxiliary/auxiliary-model.js';
import { Open } from '../../platform/auth/scope.decorator.js';
import { DatabaseConnection } from '../../platform/database/connection.js';
import { Database } from '../../platform/database/database.js';
import { Embeddings } from '../../platform/embeddings/embeddings.js';
import { ApiError } from '../../platform/http/api-error.js';
import { withDeadline } from '../../platform/outbound/deadline.js';

export interface Readiness {
  status: 'ready';
  database: 'embedded' | 'postgres';
  /** Whether episodes are a TimescaleDB hypertable. */
  hypertable: boolean;
  /** Names of the configured providers; without one, what needs a model is skipped and says so. */
  models: string[];
  /** Why reflection, the memory block and summaries do without a model; null where one is configured. */
  model_note: string | null;
  /** What vectors are made with; null where semantic search is off. */
  embedding_model: string | null;
}

const NO_MODEL =
  'no model is configured: turns, memories and search work; reflection workers end skipped (no_model) and the memory block ' +
  'is empty. Set ANTHROPIC_API_KEY or configure llm.providers in learning.yaml.';

/** Milliseconds within which a database that serves answers. */
const ANSWER_MS = 5_000;

@Controller('health')
@Open()
export class HealthController {
  private readonly log = new Logger(HealthController.name);

  constructor(
    private readonly database: Database,
    private readonly connection: DatabaseConnection,
    private readonly auxiliary: AuxiliaryModel,
    private readonly embeddings: Embeddings,
  ) {}

  /** The process runs. */
  @Get('live')
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  /** The service can serve; 503 while its database does not answer. */
  @Get('ready')
  @ApiResponse({ status: 503, description: 'The database does not answer (`health.not_ready`).' })
  async ready(): Promise<Readiness> {
    try {
      await withDeadline(ANSWER_MS, undefined, () => this.database.query('select 1'));
    } catch (error) {
      this.log.error(`the database does not answer: ${String(error)}`);
      throw new ApiError(503, 'health.not_ready', 'The database does not answer.');
    }
    const models = this.auxiliary.providerNames;
    return {
      status: 'ready',
      database: this.connection.mode,
      hypertable: this.connection.hypertable,
      models,
      model_note: models.length === 0 ? NO_MODEL : null,
      embedding_model: this.embeddings.model,
    };
  }
}
