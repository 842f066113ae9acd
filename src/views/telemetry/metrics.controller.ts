import { Controller, Get, Header } from '@nestjs/common';
import { ApiProduces } from '@nestjs/swagger';
import { Scope } from '../../platform/auth/scope.decorator.js';
import { EventRecorder } from './event-recorder.js';
import { EventStreams } from './event-streams.js';
import { ServiceFigures } from './service-figures.js';
import { ServiceMetrics } from './service-metrics.js';

@Controller('metrics')
export class MetricsController {
  constructor(
    private readonly metrics: ServiceMetrics,
    private readonly figures: ServiceFigures,
    private readonly recorder: EventRecorder,
    private readonly streams: EventStreams,
  ) {}

  /** Metrics of this replica in the text format of Prometheus, and what the database holds, over all organisations. */
  @Get()
  @Scope('read')
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  @ApiProduces('text/plain')
  async read(): Promise<string> {
    this.metrics.eventsWaiting.set(this.recorder.waiting);
    this.metrics.eventStreams.set(this.streams.open);
    await this.figures.read(this.metrics);
    return this.metrics.registry.metrics();
  }
}
