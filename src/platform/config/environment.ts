import { BlockList, isIP } from 'node:net';
import type { LogLevel } from '@nestjs/common';
import { Matches } from 'class-validator';
import { HttpUrl, OneOf, Unset, Whole, Words } from './option-decorators.js';
import { optionsOf } from './option-problems.js';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'log', 'debug', 'verbose'] as const satisfies LogLevel[];

/** Secrets and deployment: each property is the environment variable of the same name in capitals. An empty one counts as unset. */
export class Environment {
  /** TCP port of the HTTP server, 0..65535; 0 lets the system choose. @default 3000 */
  @Whole(0, 65_535)
  port = 3000;

  /** Address to listen on; other than loopback only where `ADMIN_API_KEY` is set. @default 127.0.0.1 */
  @Matches(/^[A-Za-z0-9.:_-]{1,253}$/, { message: 'must be an IP address or a host name' })
  host = '127.0.0.1';

  /** Directory of the embedded database; made absolute against the working directory. @default ./data */
  @Words(4_096)
  data_dir = './data';

  /** A PostgreSQL with pgvector, `postgres://…`. @default unset: the embedded database */
  @Unset()
  @Matches(/^postgres(ql)?:\/\//, { message: 'must start with postgres:// or postgresql://' })
  database_url?: string;

  /** The operator's key, printable ASCII without spaces. @default unset: no key is asked for, loopback only */
  @Unset()
  @Matches(/^[\x21-\x7e]{1,500}$/, { message: 'must be 1 to 500 printable ASCII characters without spaces' })
  admin_api_key?: string;

  /** Key of the Anthropic API; alone it already configures the provider `default`. @default unset */
  @Unset()
  @Words()
  anthropic_api_key?: string;

  /** Address of the Anthropic API or of a gateway before it. @default unset: the vendor's own */
  @Unset()
  @HttpUrl()
  anthropic_base_url?: string;

  /** Key of the OpenAI-compatible API, for providers and embeddings that name none of their own. @default unset */
  @Unset()
  @Words()
  openai_api_key?: string;

  /** Address of the OpenAI-compatible API, path included (`…/v1`). @default unset: the vendor's own */
  @Unset()
  @HttpUrl()
  openai_base_url?: string;

  /** Address of Confluence, e.g. `https://acme.atlassian.net/wiki`. @default unset */
  @Unset()
  @HttpUrl()
  confluence_base_url?: string;

  /** User of Confluence Cloud, with `CONFLUENCE_API_TOKEN`. @default unset */
  @Unset()
  @Words()
  confluence_username?: string;

  /** Token of the user of Confluence Cloud. @default unset */
  @Unset()
  @Words()
  confluence_api_token?: string;

  /** Personal access token of Confluence Data Center, instead of user and API token. @default unset */
  @Unset()
  @Words()
  confluence_personal_token?: string;

  /** Address of Plane, e.g. `https://api.plane.so`. @default unset */
  @Unset()
  @HttpUrl()
  plane_base_url?: string;

  /** Slug of the Plane workspace. @default unset */
  @Unset()
  @Matches(/^[A-Za-z0-9_-]{1,100}$/, { message: 'must be a workspace slug' })
  plane_workspace?: string;

  /** Key of the Plane API. @default unset */
  @Unset()
  @Words()
  plane_api_key?: string;

  /** Least severe level that is logged; `info` is another word for `log`. @default log */
  @OneOf(LOG_LEVELS)
  log_level: LogLevel = 'log';

  /** OTLP/HTTP collector that spans are sent to. @default unset: none are sent */
  @Unset()
  @HttpUrl()
  otel_exporter_otlp_endpoint?: string;

  /** `production` switches to JSON logs. @default unset */
  @Unset()
  @Words(100)
  node_env?: string;
}

/** Names of the variables that make up `Environment`. */
export const ENVIRONMENT_VARIABLES: readonly string[] = optionsOf(Environment).map((key) => key.toUpperCase());

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** True where `host` can be reached from this machine alone. */
export function isLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host.toLowerCase() === 'localhost';
  return loopback.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

/** The variables as the properties of `Environment`, numbers read as such, words folded; nothing is judged yet. */
export function readEnvironment(env: NodeJS.ProcessEnv): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const name of ENVIRONMENT_VARIABLES) {
    const text = env[name]?.trim();
    if (text) values[name.toLowerCase()] = text;
  }
  if (typeof values.port === 'string' && /^\d{1,6}$/.test(values.port)) values.port = Number(values.port);
  if (typeof values.log_level === 'string') {
    const level = values.log_level.toLowerCase();
    values.log_level = level === 'info' ? 'log' : level;
  }
  return values;
}
