import type { FastifyInstance } from 'fastify';
import type { EventBus } from '../events/event-bus.js';

declare module '../events/app-events.js' {
  interface AppObservations {
    /** A request was answered. */
    'http.answered': {
      method: string;
      /** The template, e.g. `/agents/:id/diary`; `unmatched` where there is no such route. */
      route: string;
      status: number;
      seconds: number;
    };
  }
}

/** Says of every answer how long it took; a stream is no answer. */
export function observeAnswers(fastify: FastifyInstance, events: EventBus): void {
  fastify.addHook('onResponse', (request, reply, done) => {
    if (!String(reply.raw.getHeader('content-type')).startsWith('text/event-stream')) {
      events.observe('http.answered', {
        method: request.method,
        route: request.routeOptions.url ?? 'unmatched',
        status: reply.statusCode,
        seconds: reply.elapsedTime / 1000,
      });
    }
    done();
  });
}
