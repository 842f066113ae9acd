import { Module } from '@nestjs/common';
import { AuxiliaryModule } from '../../core/auxiliary/auxiliary.module.js';
import { EmbeddingsModule } from '../../platform/embeddings/embeddings.module.js';
import { HealthController } from './health.controller.js';

@Module({ imports: [AuxiliaryModule, EmbeddingsModule], controllers: [HealthController] })
export class HealthModule {}
