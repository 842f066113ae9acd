import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { AppEvents } from '../../platform/events/app-events.js';
import { EventBus } from '../../platform/events/event-bus.js';
import { Settings } from '../../platform/config/settings.js';
import '../../core/auxiliary/auxiliary.events.js';
import '../../memories/diary/diary.events.js';
import '../../platform/http/answer-times.js';
import { LabelValues } from './label.js';
import { ServiceMetrics } from './service-metrics.js';
import './telemetry.observations.js';

/** Counts what the bus tells of. */
@Injectable()
export class MetricsListener implements OnModuleInit {
  private readonly labels = new LabelValues();

  constructor(
    private readonly events: EventBus,
    private readonly metrics: ServiceMetrics,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.countEvents();
    this.countModelCalls();
    this.countReflections();
    this.events.onObservation('plan_block.frozen', ({ block, reason, hit }) =>
      this.metrics.blocks.inc({ block, reason, hit: String(hit) }),
    );
    this.events.onObservation('http.answered', ({ method, route, status, seconds }) =>
      this.metrics.httpSeconds.observe({ method, route, status }, seconds),
    );
  }

  private countEvents(): void {
    const { metrics } = this;
    this.events.onEvery(({ type, payload }) => {
      metrics.events.inc({ type: this.labels.of('type', type) });
      if (type === 'compaction.completed') this.countCompaction(payload as Record<string, unknown>);
    });
    this.events.on('persist_decider.completed', ({ payload }) =>
      metrics.decisions.inc({ classification: payload.classification }),
    );
    this.events.onObservation('events.written', ({ events }) => metrics.eventsStored.inc(events));
    this.events.onObservation('events.lost', ({ events, cause }) => metrics.eventsLost.inc({ cause }, events));
    this.events.onObservation('event_store.failed', () => metrics.eventStoreFailures.inc());
  }

  /** The numbers of a pass, whatever it counts. */
  private countCompaction({ skipped_reason: reason, ...counts }: Record<string, unknown>): void {
    const skipped = typeof reason === 'string' ? reason : null;
    this.metrics.compactions.inc({ skipped_reason: this.labels.of('skipped_reason', skipped) });
    for (const [action, rows] of Object.entries(counts)) {
      if (typeof rows === 'number' && rows >= 0) {
        this.metrics.compactionRows.inc({ action: this.labels.of('action', action) }, rows);
      }
    }
  }

  private countModelCalls(): void {
    const { metrics } = this;
    this.events.on('auxiliary_call.completed', ({ payload }) => {
      const { outcome, input_tokens: input, output_tokens: output, duration_ms: duration } = payload;
      const whose = { worker: this.labels.of('worker', payload.worker), provider: payload.provider };
      metrics.modelCalls.inc({ ...whose, outcome });
      metrics.modelTokens.inc({ ...whose, direction: 'input' }, input);
      metrics.modelTokens.inc({ ...whose, direction: 'output' }, output);
      metrics.modelSeconds.observe(whose, duration / 1000);
      const cost = this.costOf(payload);
      if (cost !== null) metrics.modelCost.inc(whose, cost);
    });
    this.events.onObservation('auxiliary_call.failed', ({ worker, provider, fault }) =>
      metrics.modelFailures.inc({ worker: this.labels.of('worker', worker), provider, fault }),
    );
  }

  /** Null for a provider without a price. */
  private costOf({ provider, ...tokens }: AppEvents['auxiliary_call.completed']): number | null {
    const { price_per_million_input: input, price_per_million_output: output } =
      this.settings.llm.providers.get(provider) ?? {};
    if (input === undefined && output === undefined) return null;
    return (tokens.input_tokens * (input ?? 0) + tokens.output_tokens * (output ?? 0)) / 1_000_000;
  }

  private countReflections(): void {
    const { metrics } = this;
    this.events.onObservation('reflection.looked', ({ status, reason, steps }) => {
      metrics.reflections.inc({ status, reason: this.labels.of('reflection reason', reason) });
      for (const { worker: name, outcome, reason: why, startedAt, endedAt } of steps) {
        const worker = this.labels.of('worker', name);
        metrics.workerEnds.inc({ worker, outcome, reason: this.labels.of(`reason of ${worker}`, why) });
        metrics.workerSeconds.observe({ worker, outcome }, (endedAt.getTime() - startedAt.getTime()) / 1000);
      }
    });
  }
}
