import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

const PREFIX = 'agent_learning_';
/** Seconds; a model call takes from half a second to a minute. */
const MODEL_BUCKETS = [0.1, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120];
const HTTP_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What is counted in this process since it started, and what is read when it is asked for, by name. */
@Injectable()
export class ServiceMetrics {
  readonly registry = new Registry();

  readonly workerSeconds = this.histogram(
    'reflection_worker_seconds',
    'How long parts of reflection workers ran, by how they ended; retrying ones are run again.',
    ['worker', 'outcome'],
    MODEL_BUCKETS,
  );
  readonly workerEnds = this.counter('reflection_worker_ends_total', 'Ends of parts of reflection workers.', [
    'worker',
    'outcome',
    'reason',
  ]);
  readonly reflections = this.counter('reflections_total', 'Looks at turns that are to be reflected on.', [
    'status',
    'reason',
  ]);
  readonly modelCalls = this.counter(
    'model_calls_total',
    'Calls of models that were answered, by what the answer was.',
    ['worker', 'provider', 'outcome'],
  );
  readonly modelFailures = this.counter('model_call_failures_total', 'Calls of models that were not answered.', [
    'worker',
    'provider',
    'fault',
  ]);
  readonly modelSeconds = this.histogram(
    'model_call_seconds',
    'How long answered calls of models took.',
    ['worker', 'provider'],
    MODEL_BUCKETS,
  );
  readonly modelTokens = this.counter('model_tokens_total', 'Tokens read and written by models.', [
    'worker',
    'provider',
    'direction',
  ]);
  readonly modelCost = this.counter(
    'model_cost_total',
    'What calls of models cost, in the currency of the configured prices; nothing of providers without a price.',
    ['worker', 'provider'],
  );
  readonly blocks = this.counter(
    'plan_blocks_total',
    'Blocks of plan contexts, by whether and why they held something.',
    ['block', 'reason', 'hit'],
  );
  readonly decisions = this.counter('memory_decisions_total', 'What the PersistDecider decided.', ['classification']);
  readonly compactions = this.counter('compactions_total', 'Passes over the episodes of an agent.', ['skipped_reason']);
  readonly compactionRows = this.counter('compaction_rows_total', 'What those passes did to rows, by action.', [
    'action',
  ]);
  readonly events = this.counter('events_total', 'Events that were published, by type.', ['type']);
  readonly eventsStored = this.counter('events_stored_total', 'Events that were stored.', []);
  readonly eventsLost = this.counter('events_lost_total', 'Events that will never be stored.', ['cause']);
  readonly eventStoreFailures = this.counter('event_store_failures_total', 'Writes of events that failed.', []);
  readonly httpSeconds = this.histogram(
    'http_request_seconds',
    'How long requests took, by the template of their route.',
    ['method', 'route', 'status'],
    HTTP_BUCKETS,
  );

  readonly eventsWaiting = this.gauge('events_waiting', 'Events of this replica that wait to be stored.', []);
  readonly eventStreams = this.gauge('event_streams', 'Event streams that this replica serves.', []);
  readonly jobs = this.gauge('jobs', 'Jobs that have not ended well, dead ones among them.', ['task', 'status']);
  readonly jobAge = this.gauge('job_oldest_seconds', 'How long the job that is due longest has waited.', ['task']);
  readonly memories = this.gauge('memories', 'Live memories in the diaries.', ['kind']);
  readonly episodes = this.gauge('episodes', 'Rows of episodes; compacted ones stand for many.', ['kind']);
  readonly unembedded = this.gauge(
    'unembedded_rows',
    'Rows without a vector of the current model, up to ten thousand.',
    ['table'],
  );
  readonly figureFailures = this.counter(
    'figure_failures_total',
    'Figures that could not be read in time and are missing in an answer.',
    ['figure'],
  );

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  private counter<Label extends string>(name: string, help: string, labelNames: readonly Label[]): Counter<Label> {
    return new Counter({ name: PREFIX + name, help, labelNames, registers: [this.registry] });
  }

  private gauge<Label extends string>(name: string, help: string, labelNames: readonly Label[]): Gauge<Label> {
    return new Gauge({ name: PREFIX + name, help, labelNames, registers: [this.registry] });
  }

  private histogram<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    buckets: number[],
  ): Histogram<Label> {
    return new Histogram({ name: PREFIX + name, help, labelNames, buckets, registers: [this.registry] });
  }
}
