import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { LoggerService, LogLevel } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppModule } from './app.module.js';
import { serveOpenApi } from './openapi.document.js';
import { Authenticator } from './platform/auth/authenticator.js';
import { isOpenPath } from './platform/auth/open-paths.js';
import type { RequestWithPrincipal } from './platform/auth/principal.js';
import { StreamTickets } from './platform/auth/stream-tickets.js';
import type { Settings } from './platform/config/settings.js';
import { EventBus } from './platform/events/event-bus.js';
import { observeAnswers } from './platform/http/answer-times.js';
import { ApiError } from './platform/http/api-error.js';
import { endConnections } from './platform/http/end-connections.js';
import { createFastifyAdapter } from './platform/http/fastify-adapter.js';
import { ProblemFilter } from './platform/http/problem.filter.js';
import { ShutdownSignal } from './platform/http/shutdown-signal.js';
import { createValidationPipe } from './platform/http/validation.pipe.js';

/** The whole application, ready to listen or to be injected with requests. */
export async function createApp(
  settings: Settings,
  options: { logger?: LoggerService | LogLevel[] | false; embeddedUrl?: string } = {},
): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot(settings, { embeddedUrl: options.embeddedUrl }),
    createFastifyAdapter(),
    { bodyParser: false, abortOnError: false, logger: options.logger },
  );
  app.useGlobalPipes(createValidationPipe());
  app.useGlobalFilters(new ProblemFilter());
  const authenticator = app.get(Authenticator);
  const tickets = app.get(StreamTickets);
  const stopping = app.get(ShutdownSignal).signal;
  const fastify = app.getHttpAdapter().getInstance();
  endConnections(fastify, stopping);
  observeAnswers(fastify, app.get(EventBus));
  // Before the body is read: a stranger's two megabytes are not parsed.
  fastify.addHook('onRequest', async (request: FastifyRequest & RequestWithPrincipal, reply: FastifyReply) => {
    if (stopping.aborted) {
      reply.header('connection', 'close');
      throw new ApiError(503, 'service.stopping', 'The service is stopping; send the request again in a moment.');
    }
    if (isOpenPath(request.url)) return;
    request.principal = (await tickets.principalOf(request)) ?? (await authenticator.authenticate(request.headers));
  });
  serveOpenApi(app);
  return app;
}
