import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type * as OpenTelemetry from '@opentelemetry/api';
import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api';
import type { TracerProvider } from '@opentelemetry/sdk-trace';
import type { AppObservations } from '../../platform/events/app-events.js';
import { EventBus } from '../../platform/events/event-bus.js';
import { Settings } from '../../platform/config/settings.js';
import { withDeadline } from '../../platform/outbound/deadline.js';

type Api = typeof OpenTelemetry;
type Look = AppObservations['reflection.looked'];
type Step = Look['steps'][number];

const SERVICE = 'agent-learning';
const OUTCOMES: Record<Look['status'], string> = {
  done: 'done',
  dead: 'failed',
  retrying: 'failed',
  skipped: 'skipped',
  superseded: 'skipped',
  waiting: 'skipped',
};
/** Milliseconds that one export may take, further tries included. */
const EXPORT_MS = 4_000;
/** Milliseconds that a shutdown waits for the last one. */
const FAREWELL_MS = 5_000;
/** Milliseconds that spans wait for others. */
const GATHER_MS = 2_000;

/**
 * Spans of reflection, sent to `OTEL_EXPORTER_OTLP_ENDPOINT`: `learning.reflect` under the turn's own span, and below it one a
 * worker. They are made after the fact, from what the engine observed, so tracing is never in anybody's way; without an
 * endpoint nothing of the SDK is loaded. A collector that is down costs the spans, which are dropped once 2,048 wait.
 */
@Injectable()
export class ReflectionTracing implements OnModuleInit, OnApplicationShutdown {
  private readonly log = new Logger(ReflectionTracing.name);
  private provider: TracerProvider | undefined;

  constructor(
    private readonly settings: Settings,
    private readonly events: EventBus,
  ) {}

  async onModuleInit(): Promise<void> {
    const endpoint = this.settings.environment.otel_exporter_otlp_endpoint;
    if (endpoint === undefined) return;
    const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ]);
    const exporter = new OTLPTraceExporter({
      url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
      timeoutMillis: EXPORT_MS,
    });
    this.provider = new sdk.TracerProvider({
      resource: resourceFromAttributes({ 'service.name': SERVICE }),
      // The trace is the turn engine's; whether it is kept is not known here, so it is.
      sampler: new sdk.AlwaysOnSampler(),
      spanProcessors: [
        new sdk.BatchSpanProcessor({ exporter, scheduledDelayMillis: GATHER_MS, exportTimeoutMillis: EXPORT_MS }),
      ],
    });
    const tracer = this.provider.getTracer(SERVICE);
    this.events.onObservation('reflection.looked', (look) => trace(api, tracer, look));
  }

  /** Jobs have ended by now, so no span is still to come. */
  async onApplicationShutdown(): Promise<void> {
    const { provider } = this;
    if (!provider) return;
    try {
      await withDeadline(FAREWELL_MS, undefined, () => provider.shutdown());
    } catch (error) {
      this.log.warn(`the last spans were not sent: ${String(error)}`);
    }
  }
}

function trace(api: Api, tracer: Tracer, look: Look): void {
  const outcome = OUTCOMES[look.status];
  const reflect = tracer.startSpan(
    'learning.reflect',
    {
      startTime: look.startedAt,
      attributes: {
        'learning.turn_id': look.turnId,
        'learning.agent_id': look.agentId,
        'learning.status': look.status,
        ...outcomeOf(outcome, look.reason),
      },
    },
    parentOf(api, look),
  );
  const within = api.trace.setSpan(api.ROOT_CONTEXT, reflect);
  for (const step of look.steps) traceStep(api, tracer, step, within);
  end(api, reflect, outcome, look.endedAt);
}

function traceStep(api: Api, tracer: Tracer, step: Step, within: Context): void {
  const outcome = step.outcome === 'dead' || step.outcome === 'retrying' ? 'failed' : step.outcome;
  const attributes = { 'learning.worker': step.worker, ...outcomeOf(outcome, step.reason) };
  const span = tracer.startSpan(`learning.${step.worker}`, { startTime: step.startedAt, attributes }, within);
  end(api, span, outcome, step.endedAt);
}

/** A skip says why under a name of its own, as dashboards of the reference engine ask for it. */
function outcomeOf(outcome: string, reason: string | null): Attributes {
  const name = outcome === 'skipped' ? 'learning.skip_reason' : 'learning.reason';
  return { 'learning.outcome': outcome, ...(reason === null ? {} : { [name]: reason }) };
}

function end(api: Api, span: Span, outcome: string, at: Date): void {
  if (outcome === 'failed') span.setStatus({ code: api.SpanStatusCode.ERROR });
  span.end(at);
}

/** The turn's span; without one the trace begins here. */
function parentOf(api: Api, { traceId, spanId }: Look): Context {
  if (traceId === null || spanId === null) return api.ROOT_CONTEXT;
  const turn = { traceId, spanId, traceFlags: api.TraceFlags.SAMPLED, isRemote: true };
  return api.trace.setSpanContext(api.ROOT_CONTEXT, turn);
}
