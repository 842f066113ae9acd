import { Module } from '@nestjs/common';
import { PersonalDataModule } from '../../core/personal-data/personal-data.module.js';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import { AuthModule } from '../../platform/auth/auth.module.js';
import { EmbeddingsModule } from '../../platform/embeddings/embeddings.module.js';
import { JobsModule } from '../../platform/jobs/jobs.module.js';
import { EventFeed } from './event-feed.js';
import { EventReader } from './event.reader.js';
import { EventRecorder } from './event-recorder.js';
import { EventStore } from './event.store.js';
import { EventStreams } from './event-streams.js';
import { EventSweep } from './event.sweep.js';
import { EventsController } from './events.controller.js';
import { MetricsController } from './metrics.controller.js';
import { MetricsListener } from './metrics-listener.js';
import { ReflectionTracing } from './reflection-tracing.js';
import { ServiceFigures } from './service-figures.js';
import { ServiceMetrics } from './service-metrics.js';
import { EventPersonalData } from './event.personal-data.js';

@Module({
  imports: [PersonalDataModule, AuthModule, EmbeddingsModule, JobsModule, OrganizationModule],
  controllers: [EventsController, MetricsController],
  providers: [
    EventPersonalData,
    EventFeed,
    EventReader,
    EventRecorder,
    EventStore,
    EventStreams,
    EventSweep,
    MetricsListener,
    ReflectionTracing,
    ServiceFigures,
    ServiceMetrics,
  ],
})
export class TelemetryModule {}
