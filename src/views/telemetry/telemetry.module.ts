import { Module } from '@nestjs/common';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import { AuthModule } from '../../platform/auth/auth.module.js';
import { JobsModule } from '../../platform/jobs/jobs.module.js';
import { EventFeed } from './event-feed.js';
import { EventReader } from './event.reader.js';
import { EventRecorder } from './event-recorder.js';
import { EventStore } from './event.store.js';
import { EventStreams } from './event-streams.js';
import { EventSweep } from './event.sweep.js';
import { EventsController } from './events.controller.js';

@Module({
  imports: [AuthModule, JobsModule, OrganizationModule],
  controllers: [EventsController],
  providers: [EventFeed, EventReader, EventRecorder, EventStore, EventStreams, EventSweep],
})
export class TelemetryModule {}
