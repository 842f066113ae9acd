import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { STATUS_CODES } from 'node:http';
import { ApiError, type FieldProblem } from './api-error.js';
import { securityHeaders } from './security-headers.js';

interface Problem {
  type: 'about:blank';
  title: string;
  status: number;
  detail: string;
  code: string;
  errors?: FieldProblem[];
}

/** Fastify's own refusals, by the code of its error. */
const fastifyCodes: Record<string, [status: number, code: string, detail: string]> = {
  FST_ERR_CTP_INVALID_JSON_BODY: [400, 'body.malformed', 'The body is not valid JSON.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: [400, 'body.malformed', 'The body is empty; JSON was expected.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [400, 'body.malformed', 'The body is not as long as Content-Length says.'],
  FST_ERR_CTP_BODY_TOO_LARGE: [413, 'body.too_large', 'The body is larger than this route accepts.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [415, 'body.unsupported_media_type', 'Send the body as application/json.'],
  FST_ERR_CTP_INVALID_TYPE: [415, 'body.unsupported_media_type', 'Send the body as application/json.'],
  FST_ERR_BAD_URL: [400, 'url.malformed', 'The URL is not validly encoded.'],
  FST_ERR_MAX_PARAM_LENGTH: [414, 'url.too_long', 'A part of the URL is longer than any name.'],
};

const defaultCodes: Record<number, string> = {
  400: 'request.malformed',
  401: 'auth.required',
  403: 'auth.scope_missing',
  404: 'route.not_found',
  405: 'route.method_not_allowed',
  413: 'body.too_large',
  415: 'body.unsupported_media_type',
  429: 'rate.limited',
};

/** Any error as RFC 9457 fields. What is not meant for the caller becomes a bare 500, without its message. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ApiError) return problem(error.status, error.code, error.detail, error.errors);
  const code = (error as { code?: unknown } | null)?.code;
  const known = typeof code === 'string' ? fastifyCodes[code] : undefined;
  if (known) return problem(...known);
  if ((error as { driverError?: { code?: unknown } } | null)?.driverError?.code === ERASED_AGENT) {
    return problem(404, 'agent.not_found', 'There is no such agent.');
  }
  if (isDatabaseGone(error)) {
    return problem(503, 'service.unavailable', 'The database does not answer; send the request again in a moment.');
  }
  const status =
    error instanceof HttpException ? error.getStatus() : (error as { statusCode?: unknown } | null)?.statusCode;
  if (typeof status === 'number' && status >= 400 && status < 500) {
    const detail = status === 404 ? 'There is nothing at this address.' : (error as Error).message;
    return problem(status, defaultCodes[status] ?? 'request.refused', detail);
  }
  return problem(500, 'internal.error', 'The service failed; the fault is in its log.');
}

/** The schema's refusal of a row of an agent that was erased while the request was under way. */
const ERASED_AGENT = 'AL404';

/** Classes of SQLSTATE: connection exceptions, and shutdowns and overload of the server. */
const GONE_STATES = /^(08...|57P0[1-3]|53300)$/;
const GONE_CODES = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND'];
const GONE_MESSAGES = /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect)/;

/** The driver's ways of saying that there is no server at the other end. */
function isDatabaseGone(error: unknown): boolean {
  const { driverError, code, message } = (error ?? {}) as { driverError?: unknown; code?: unknown; message?: unknown };
  if (driverError !== undefined && driverError !== error) return isDatabaseGone(driverError);
  const isGone = typeof code === 'string' && (GONE_CODES.includes(code) || GONE_STATES.test(code));
  return isGone || (typeof message === 'string' && GONE_MESSAGES.test(message));
}

function problem(status: number, code: string, detail: string, errors?: FieldProblem[]): Problem {
  return {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail,
    code,
    ...(errors ? { errors } : {}),
  };
}

const log = new Logger('Http');

export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (reply.sent) return;
  const body = problemOf(error);
  if (body.status >= 500 && !(error instanceof ApiError)) {
    log.error(`${request.method} ${request.url.split('?', 1)[0]} failed`, error instanceof Error ? error.stack : error);
  }
  if (body.code === 'service.unavailable') void reply.header('retry-after', '5');
  void reply
    .status(body.status)
    // An address that cannot be read is refused before any hook has run.
    .headers(securityHeaders(request.url))
    .header('content-type', 'application/problem+json; charset=utf-8')
    .send(JSON.stringify(body));
}

@Catch()
export class ProblemFilter implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    sendProblem(error, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }
}
