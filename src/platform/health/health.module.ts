import { Module } from '@nestjs/common';
import { EmbeddingsModule } from '../embeddings/embeddings.module.js';
import { LlmModule } from '../llm/llm.module.js';
import { HealthController } from './health.controller.js';

@Module({ imports: [EmbeddingsModule, LlmModule], controllers: [HealthController] })
export class HealthModule {}
