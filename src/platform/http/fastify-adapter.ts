import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from './api-error.js';
import { refuseConnection } from './client-error.js';
import { acceptNdjson } from './ndjson-body.js';
import { storableBody, storableParameters } from './json-body.js';
import { sendProblem } from './problem.filter.js';
import { securityHeaders } from './security-headers.js';

/** Bytes. */
export const BODY_LIMIT = 2 * 1024 * 1024;
/** Bytes of address and headers: room for a search of 5,000 characters of any script, percent-encoded. */
const HEADER_LIMIT = 64 * 1024;
/** Milliseconds within which a whole request must have arrived. */
const REQUEST_LIMIT = 30_000;

/**
 * The HTTP edge: JSON bodies only, at most `BODY_LIMIT`, all text made storable once, every refusal a problem.
 */
export function createFastifyAdapter(): FastifyAdapter {
  const adapter = new FastifyAdapter({
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_LIMIT,
    http: { maxHeaderSize: HEADER_LIMIT, headersTimeout: REQUEST_LIMIT, connectionsCheckingInterval: 5_000 },
    // A request that comes while the service stops is refused by the application, as a problem.
    return503OnClosing: false,
    clientErrorHandler: refuseConnection,
    // A handle may hold any printable character, so a client may encode what it likes.
    routerOptions: { maxParamLength: 2048 },
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => sendProblem(error, request, reply),
  });
  const fastify = adapter.getInstance();
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.headers(securityHeaders(request.url));
    done();
  });
  fastify.removeAllContentTypeParsers();
  const parse = fastify.getDefaultJsonParser('error', 'error');
  fastify.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    // A DELETE or POST without a body may still carry the JSON content type.
    if (body === '') return done(null, undefined);
    void parse(request, body as string, (error, value) => {
      if (error) return done(new ApiError(400, 'body.malformed', 'The body is not valid JSON.'), undefined);
      try {
        done(null, storableBody(value));
      } catch (problem) {
        done(problem as Error, undefined);
      }
    });
  });
  acceptNdjson(fastify);
  fastify.addHook('preHandler', (request, _reply, done) => {
    storableParameters(request.params);
    storableParameters(request.query);
    done();
  });
  return adapter;
}
