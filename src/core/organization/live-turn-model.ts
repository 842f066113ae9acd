import { Injectable } from '@nestjs/common';
import { AuxiliaryModel } from '../auxiliary/auxiliary-model.js';
import {
  type Answer,
  type AuxiliaryCall,
  type AuxiliaryJsonCall,
  AuxiliaryUnavailable,
} from '../auxiliary/auxiliary.models.js';
import { Agents } from './agents.js';
import { Budgets } from './budgets.js';

/**
 * The auxiliary model as a live turn asks it, for a block or a tool: not once the day's tokens are spent. A turn cannot be
 * put off as a reflection can, so it goes on without.
 */
@Injectable()
export class LiveTurnModel {
  constructor(
    private readonly auxiliary: AuxiliaryModel,
    private readonly agents: Agents,
    private readonly budgets: Budgets,
  ) {}

  /** As `AuxiliaryModel.ask`. @throws AuxiliaryUnavailable also where the budget is exhausted; nothing is sent then */
  ask(call: AuxiliaryCall & { schema?: undefined }): Promise<Answer<string>>;
  ask<Value>(call: AuxiliaryJsonCall<Value>): Promise<Answer<Value>>;
  async ask(call: AuxiliaryCall & Partial<AuxiliaryJsonCall<unknown>>): Promise<Answer<unknown>> {
    const agent = await this.agents.find(call.orgId, call.agent.id);
    if (agent && (await this.budgets.exhausted(agent))) {
      throw new AuxiliaryUnavailable(
        'budget_exhausted',
        `the token budget of agent ${agent.handle} is spent for today`,
      );
    }
    return call.schema
      ? this.auxiliary.ask(call as AuxiliaryJsonCall<unknown>)
      : this.auxiliary.ask(call as AuxiliaryCall & { schema?: undefined });
  }
}
