import { Body, Controller, Get, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { plainToInstance } from 'class-transformer';
import { validate } from 'class-validator';
import type { FastifyReply } from 'fastify';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import { ApiError, type FieldProblem } from '../../platform/http/api-error.js';
import { CurrentTrace, type TraceIds } from '../../platform/http/trace-context.js';
import { UuidParam } from '../../platform/http/uuid-param.js';
import { fieldProblems, invalidRequest, validationOptions } from '../../platform/http/validation.pipe.js';
import { Intake, type TurnReceipt } from './intake.js';
import { FinishedTurnDto, TurnBatchDto } from './turn.dto.js';
import { TurnReader, type TurnView } from './turn.reader.js';

export interface BatchItem {
  turn_id: string | null;
  status: TurnReceipt['status'] | 'rejected';
  code?: string;
  errors?: FieldProblem[];
}

@Controller('turns')
@Scope('engine')
export class TurnsController {
  constructor(
    private readonly intake: Intake,
    private readonly reader: TurnReader,
  ) {}

  /** Takes one finished turn: 202 once it is durable, 200 where it was already there. */
  @Post()
  @HttpCode(202)
  @ApiResponse({ status: 200, description: 'It was already there.' })
  @ApiResponse({ status: 409, description: 'This turn_id is stored with another content (`turn.conflict`).' })
  async submit(
    @CurrentPrincipal() principal: Principal,
    @CurrentTrace() trace: TraceIds,
    @Body() turn: FinishedTurnDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TurnReceipt> {
    const receipt = await this.intake.submit({ orgId: principal.orgId, turn, reflect: true, trace });
    if (receipt.status === 'duplicate') reply.status(200);
    return receipt;
  }

  /** Takes up to 500 turns; each is judged for itself. */
  @Post('batch')
  @HttpCode(200)
  async submitBatch(
    @CurrentPrincipal() principal: Principal,
    @CurrentTrace() trace: TraceIds,
    @Body() batch: TurnBatchDto,
  ): Promise<{ items: BatchItem[] }> {
    const checked = await Promise.all(batch.turns.map(readTurn));
    const fit = checked.flatMap((item) => (item instanceof FinishedTurnDto ? [item] : []));
    const results = await this.intake.submitAll(
      principal.orgId,
      fit.map((turn) => ({ orgId: principal.orgId, turn, reflect: batch.reflect, trace })),
    );
    const items = checked.map((item, index) => {
      if (item instanceof ApiError) return rejected(postedId(batch.turns[index]), item);
      const result = results.shift()!;
      return result instanceof ApiError
        ? rejected(item.turn_id, result)
        : { turn_id: result.turn_id, status: result.status };
    });
    return { items };
  }

  /** The turn as it was posted, and how far its reflection has come. */
  @Get(':turn_id')
  find(@CurrentPrincipal() principal: Principal, @Param('turn_id', UuidParam) turnId: string): Promise<TurnView> {
    return this.reader.get(principal.orgId, turnId);
  }
}

async function readTurn(value: unknown): Promise<FinishedTurnDto | ApiError> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return invalidRequest([{ path: '', message: 'a turn must be an object' }]);
  }
  const turn = plainToInstance(FinishedTurnDto, value);
  const problems = fieldProblems(await validate(turn, validationOptions));
  return problems.length > 0 ? invalidRequest(problems) : turn;
}

function postedId(value: unknown): string | null {
  const id = (value as { turn_id?: unknown } | null)?.turn_id;
  return typeof id === 'string' ? id : null;
}

function rejected(turnId: string | null, error: ApiError): BatchItem {
  return { turn_id: turnId, status: 'rejected', code: error.code, ...(error.errors ? { errors: error.errors } : {}) };
}
