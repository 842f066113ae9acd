import type { Socket } from 'node:net';
import { ApiError } from './api-error.js';
import { problemOf } from './problem.filter.js';
import { securityHeaders } from './security-headers.js';

/** What Node's parser refuses before there is a request, by the code of its error. */
const refusals: Record<string, ApiError> = {
  HPE_HEADER_OVERFLOW: new ApiError(431, 'request.headers_too_large', 'The address and headers are too long.'),
  ERR_HTTP_REQUEST_TIMEOUT: new ApiError(408, 'request.timeout', 'The request did not arrive in time.'),
};
const malformed = new ApiError(400, 'request.malformed', 'This is not an HTTP request.');

const SECURITY = Object.entries(securityHeaders(''))
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');

/** Answers what is no HTTP request with a problem, and ends the connection. */
export function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const problem = problemOf(refusals[error.code ?? ''] ?? malformed);
  const body = JSON.stringify(problem);
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${problem.status} ${problem.title}\r\nContent-Type: application/problem+json; charset=utf-8\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n${SECURITY}\r\n${body}`,
    );
  }
  socket.destroy(error);
}
