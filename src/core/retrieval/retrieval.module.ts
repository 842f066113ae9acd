import { Module } from '@nestjs/common';
import { EmbeddingsModule } from '../../platform/embeddings/embeddings.module.js';
import { QueryVectors } from './query-vectors.js';
import { ScopedSearch } from './scoped-search.js';
import { VectorIndex } from './vector-index.js';

/** Needs the global database and configuration. */
@Module({ imports: [EmbeddingsModule], providers: [QueryVectors, ScopedSearch, VectorIndex], exports: [ScopedSearch] })
export class RetrievalModule {}
