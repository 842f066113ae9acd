import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from './api-error.js';

export const NDJSON = 'application/x-ndjson';

/** For `@RouteConfig`: the route takes its body as a stream of NDJSON, of any length, and checks it itself. */
export const TAKES_NDJSON = { takesNdjson: true } as const;

/** Hands an NDJSON body on unread; to a route that takes none, it is a content type like any other. */
export function acceptNdjson(fastify: FastifyInstance): void {
  fastify.addContentTypeParser(NDJSON, (request: FastifyRequest, payload, done) => {
    const { takesNdjson } = request.routeOptions.config as { takesNdjson?: boolean };
    if (takesNdjson) return done(null, payload);
    done(new ApiError(415, 'body.unsupported_media_type', 'Send the body as application/json.'), undefined);
  });
}
