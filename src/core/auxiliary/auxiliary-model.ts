import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { EventBus } from '../../platform/events/event-bus.js';
import { type Answer, readJsonAnswer, readTextAnswer } from '../../platform/llm/answers.js';
import { LlmError, type LlmProvider, type LlmReply, type LlmRequest } from '../../platform/llm/llm.models.js';
import { LlmProviders } from '../../platform/llm/llm-providers.js';
import { storableText } from '../../platform/text/storable-text.js';
import {
  type AuxiliaryCall,
  type AuxiliaryJsonCall,
  AuxiliaryUnavailable,
  type ChainSource,
} from './auxiliary.models.js';
import './auxiliary.events.js';
import { tokenCount, UsageMeter } from './usage-meter.js';
import { wantedFormat } from './wanted-format.js';

export { AuxiliaryUnavailable } from './auxiliary.models.js';

interface Replied {
  provider: LlmProvider;
  reply: LlmReply;
  durationMs: number;
}

/** The cheap model that learning asks. The only caller of `platform/llm`: it walks a role's chain, reads and meters. */
@Injectable()
export class AuxiliaryModel {
  private readonly log = new Logger(AuxiliaryModel.name);

  constructor(
    private readonly providers: LlmProviders,
    private readonly meter: UsageMeter,
    private readonly events: EventBus,
    private readonly database: Database,
  ) {}

  /** The configured providers. */
  get providerNames(): string[] {
    return this.providers.names;
  }

  /**
   * The providers of a role in the order in which they are tried: its `llmAuxiliary`, else its `llm`, else `default`.
   * Names that are not configured are left out; empty: there is no model for this role.
   */
  chainOf({ llmAuxiliary, llm }: ChainSource): string[] {
    const named = llmAuxiliary.length > 0 ? llmAuxiliary : llm.length > 0 ? llm : ['default'];
    return [...new Set(named)].filter((name) => this.providers.get(name) !== undefined);
  }

  /**
   * Asks the chain's providers one after another until one replies, and reads the reply (`readJsonAnswer`; without a
   * schema `readTextAnswer`). An unusable answer is an answer: nobody else is asked.
   *
   * @throws AuxiliaryUnavailable if no provider replied
   */
  ask(call: AuxiliaryCall & { schema?: undefined }): Promise<Answer<string>>;
  ask<Value>(call: AuxiliaryJsonCall<Value>): Promise<Answer<Value>>;
  async ask(call: AuxiliaryCall & Partial<AuxiliaryJsonCall<unknown>>): Promise<Answer<unknown>> {
    this.database.assertNoTransaction('a model call');
    const replied = await this.firstReply(call);
    const answer = call.schema
      ? readJsonAnswer(replied.reply.text, call.schema, call.shape)
      : readTextAnswer(replied.reply.text);
    await this.account(call, replied, answer);
    return answer;
  }

  private async firstReply(call: AuxiliaryCall & Partial<AuxiliaryJsonCall<unknown>>): Promise<Replied> {
    const chain = call.chain.flatMap((name) => this.providers.get(name) ?? []);
    const request: LlmRequest = {
      worker: call.worker,
      system: storableText(call.system),
      user: storableText(call.user),
      schema: call.format ?? (call.schema && wantedFormat(call.schema, call.shape ?? 'object')),
      maxTokens: call.maxTokens,
      signal: call.signal,
    };
    const faults: LlmError[] = [];
    for (const provider of chain) {
      const startedAt = performance.now();
      try {
        const reply = await provider.complete(request);
        return { provider, reply, durationMs: Math.round(performance.now() - startedAt) };
      } catch (error) {
        if (!(error instanceof LlmError)) throw error;
        faults.push(error);
        const { fault } = error;
        this.events.observe('auxiliary_call.failed', { worker: call.worker, provider: provider.name, fault });
        if (error.fault !== 'open') this.log.warn(`${call.worker} of ${call.agent.handle}: ${error.message}`);
        if (call.signal?.aborted) break;
      }
    }
    throw unavailable(faults);
  }

  /** Measuring never breaks what is measured. */
  private async account(
    call: AuxiliaryCall,
    { provider, reply, durationMs }: Replied,
    answer: Answer<unknown>,
  ): Promise<void> {
    const { orgId, agent, worker } = call;
    const [inputTokens, outputTokens] = [tokenCount(reply.inputTokens), tokenCount(reply.outputTokens)];
    try {
      await this.meter.record({ orgId, agentId: agent.id, worker, provider: provider.name, inputTokens, outputTokens });
    } catch (error) {
      this.log.error(
        `${inputTokens + outputTokens} tokens of ${worker} of ${agent.handle} are not metered: ${String(error)}`,
      );
    }
    this.events.publish('auxiliary_call.completed', {
      org_id: orgId,
      agent_id: agent.id,
      agent_handle: agent.handle,
      role: agent.role,
      turn_id: call.turnId,
      trace_id: call.traceId ?? null,
      span_id: call.spanId ?? null,
      payload: {
        worker,
        provider: provider.name,
        model: provider.model,
        outcome: answer.kind,
        input_tokens: inputTokens,
        output_tokens: outputTokens,
        duration_ms: durationMs,
      },
    });
  }
}

/** A fault that passes by makes the whole worth another try, whatever the others were. */
function unavailable(faults: readonly LlmError[]): AuxiliaryUnavailable {
  if (faults.length === 0)
    return new AuxiliaryUnavailable('no_model', 'no auxiliary model is configured for this role');
  const passing = faults.filter(({ fault }) => fault !== 'refused');
  const message = faults.map((fault) => fault.message).join('; ');
  if (passing.length === 0) return new AuxiliaryUnavailable('refused', message);
  const retryTimes = passing.flatMap(({ details }) => details.retryAt?.getTime() ?? []);
  const fault = passing.some((error) => error.fault === 'transient') ? 'transient' : 'open';
  return new AuxiliaryUnavailable(
    fault,
    message,
    retryTimes.length > 0 ? new Date(Math.min(...retryTimes)) : undefined,
  );
}
