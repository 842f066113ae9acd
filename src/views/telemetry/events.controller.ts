import { Controller, Get, Headers, Post, Query, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiProduces, ApiResponse } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Agents } from '../../core/organization/agents.js';
import { CurrentPrincipal, type Principal } from '../../platform/auth/principal.js';
import { Scope } from '../../platform/auth/scope.decorator.js';
import { type StreamTicket, StreamTickets } from '../../platform/auth/stream-tickets.js';
import { ApiError } from '../../platform/http/api-error.js';
import { isUuid, type Page } from '../../platform/http/page.js';
import { invalidRequest } from '../../platform/http/validation.pipe.js';
import { EventStreams } from './event-streams.js';
import { type EventFilter, EventReader, type EventView } from './event.reader.js';
import { type EventQuery, EventsQuery, EventStreamQuery } from './events.dto.js';

@Controller('events')
@Scope('read')
export class EventsController {
  constructor(
    private readonly reader: EventReader,
    private readonly streams: EventStreams,
    private readonly tickets: StreamTickets,
    private readonly agents: Agents,
  ) {}

  /** What happened, newest first. */
  @Get()
  async list(@CurrentPrincipal() { orgId }: Principal, @Query() query: EventsQuery): Promise<Page<EventView>> {
    return this.reader.list(await this.filterOf(orgId, query), query);
  }

  /** A ticket that opens one stream within a minute: for browsers, which cannot send a key with `EventSource`. */
  @Post('ticket')
  issueTicket(@CurrentPrincipal() principal: Principal): Promise<StreamTicket> {
    return this.tickets.issue(principal);
  }

  /** What happens, on every replica, as server-sent events; goes on after `Last-Event-ID` without loss or repetition. */
  @Get('stream')
  @ApiProduces('text/event-stream')
  @ApiHeader({ name: 'Last-Event-ID', required: false, schema: { type: 'string', format: 'uuid' } })
  @ApiResponse({ status: 404, description: 'There is no such agent, or no event that is kept has the id given.' })
  async stream(
    @CurrentPrincipal() principal: Principal,
    @Query() query: EventStreamQuery,
    @Headers('last-event-id') header: string | undefined,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const lastEventId = header?.trim().toLowerCase() || query.last_event_id;
    if (lastEventId !== undefined && !isUuid(lastEventId)) {
      throw invalidRequest([{ path: 'Last-Event-ID', message: 'must be the id of an event' }]);
    }
    const filter = await this.filterOf(principal.orgId, query);
    reply.headers({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      // nginx would gather what is sent.
      'x-accel-buffering': 'no',
    });
    if (request.method === 'HEAD') {
      await reply.send();
      return;
    }
    if (this.streams.full) {
      reply.headers({ 'cache-control': 'no-store', 'retry-after': '10' });
      throw new ApiError(429, 'events.too_many_streams', 'This replica serves as many event streams as it may.');
    }
    const stream = await this.streams.prepare(principal, filter, lastEventId);
    reply.hijack();
    reply.raw.writeHead(200, reply.getHeaders() as Record<string, string>);
    void stream.serve(reply.raw);
  }

  private async filterOf(orgId: string, query: EventQuery): Promise<EventFilter> {
    const { type, agent, turn_id: turnId, since } = query;
    return {
      orgId,
      type,
      turnId,
      agentId: agent === undefined ? undefined : (await this.agents.get(orgId, agent)).id,
      since: since === undefined ? undefined : new Date(since),
    };
  }
}
