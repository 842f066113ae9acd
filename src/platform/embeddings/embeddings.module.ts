import { Module } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { EmbedMissingJob } from './embed-missing.job.js';
import type { Embedder } from './embedder.models.js';
import { Embeddings } from './embeddings.js';
import { HashingEmbedder } from './hashing.embedder.js';
import { OpenAiCompatibleEmbedder } from './openai-compatible.embedder.js';
import { EmbeddedTables, EmbedMissing } from './reembedding.js';

@Module({
  imports: [JobsModule],
  providers: [
    {
      provide: Embeddings,
      inject: [Settings, Database],
      useFactory: (settings: Settings, database: Database) => new Embeddings(embedderOf(settings), database),
    },
    EmbeddedTables,
    EmbedMissing,
    EmbedMissingJob,
  ],
  exports: [Embeddings, EmbeddedTables, EmbedMissing, EmbedMissingJob],
})
export class EmbeddingsModule {}

/** The embedder of the settings; null where semantic search is off. */
export function embedderOf(settings: Settings): Embedder | null {
  const { provider, model, dimensions, timeout_seconds: timeoutSeconds, max_retries: maxRetries } = settings.embeddings;
  switch (provider) {
    case 'none':
      return null;
    case 'hashing':
      return new HashingEmbedder(dimensions);
    case 'openai_compatible': {
      const { base_url: baseUrl, api_key: apiKey } = settings.embeddingsAccess();
      return new OpenAiCompatibleEmbedder({ model: model!, baseUrl, apiKey, dimensions, timeoutSeconds, maxRetries });
    }
  }
}
