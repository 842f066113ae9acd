import type { FastifyInstance } from 'fastify';

/** Milliseconds that a connection has to end in once the service stops; what hangs longer is cut. */
export const CONNECTION_GRACE = 8_000;

/**
 * Lets no client keep the service from stopping: when `stopping` aborts, connections without a request are closed at once,
 * and all others after `CONNECTION_GRACE`, whatever has arrived of their request or left of their answer.
 */
export function endConnections(fastify: FastifyInstance, stopping: AbortSignal): void {
  const { server } = fastify;
  let cut: NodeJS.Timeout | undefined;
  let cutAt = Infinity;
  const cutIn = (milliseconds: number): void => {
    clearTimeout(cut);
    cut = setTimeout(() => server.closeAllConnections(), Math.max(milliseconds, 0));
    cut.unref();
  };
  const begin = (): void => {
    cutAt = Date.now() + CONNECTION_GRACE;
    server.closeIdleConnections();
    cutIn(CONNECTION_GRACE);
  };
  if (stopping.aborted) begin();
  else stopping.addEventListener('abort', begin, { once: true });
  // Only now does the server stop listening, perhaps after the cut: what connected since then is cut too.
  fastify.addHook('preClose', (done) => {
    cutIn(Math.min(cutAt - Date.now(), CONNECTION_GRACE));
    done();
  });
  fastify.addHook('onClose', (_instance, done) => {
    clearTimeout(cut);
    done();
  });
}
