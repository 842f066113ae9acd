import { Module } from '@nestjs/common';
import { LlmProviders } from './llm-providers.js';

@Module({ providers: [LlmProviders], exports: [LlmProviders] })
export class LlmModule {}
