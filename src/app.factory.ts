import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { LoggerService, LogLevel } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppModule } from './app.module.js';
import { serveOpenApi } from './openapi.document.js';
import { Authenticator } from './platform/auth/authenticator.js';
import { isOpenPath } from './platform/auth/open-paths.js';
import type { RequestWithPrincipal } from './platform/auth/principal.js';
import type { Settings } from './platform/config/settings.js';
import { createFastifyAdapter } from './platform/http/fastify-adapter.js';
import { ProblemFilter } from './platform/http/problem.filter.js';
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
  // Before the body is read: a stranger's two megabytes are not parsed.
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', async (request: FastifyRequest & RequestWithPrincipal) => {
      if (isOpenPath(request.url)) return;
      request.principal = await authenticator.authenticate(request.headers.authorization);
    });
  serveOpenApi(app);
  return app;
}
