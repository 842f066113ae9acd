import { ConsoleLogger, Logger, type LogLevel } from '@nestjs/common';
import { AuxiliaryModel } from './core/auxiliary/auxiliary-model.js';
import type { Settings } from './platform/config/settings.js';
import { createApp } from './app.factory.js';
import { organizationValidator } from './core/organization/organization.document.js';
import { ConfigError, loadSettings } from './platform/config/load-settings.js';
import { BootError } from './platform/database/boot-error.js';

const levels: LogLevel[] = ['fatal', 'error', 'warn', 'log', 'debug', 'verbose'];

/** Parts of the framework that tell of every module and route, and of faults that `start` says in one line. */
const chatty = ['InstanceLoader', 'RoutesResolver', 'RouterExplorer'];
const startFaults = ['ExceptionHandler', 'NestApplication'];

class ServiceLogger extends ConsoleLogger {
  override log(message: unknown, ...rest: unknown[]): void {
    if (!chatty.includes(String(rest.at(-1)))) super.log(message, ...rest);
  }

  override error(message: unknown, ...rest: unknown[]): void {
    if (!startFaults.includes(String(rest.at(-1)))) super.error(message, ...rest);
  }
}

/** Boots the service and serves until a signal ends it. What stands in the way is one plain error, and exit code 1. */
export async function start(): Promise<void> {
  try {
    const settings = loadSettings({ validators: [organizationValidator] });
    const { host, port, log_level: level, node_env: nodeEnv } = settings.environment;
    const logger = new ServiceLogger({
      json: nodeEnv === 'production',
      colors: process.stdout.isTTY === true,
      logLevels: levels.slice(0, levels.indexOf(level) + 1),
    });
    const app = await createApp(settings, { logger });
    app.enableShutdownHooks(undefined, { useProcessExit: true });
    await app.listen(port, host);
    new Logger('Start').log(`agent-learning listens on ${await app.getUrl()}; API at /docs`);
    new Logger('Start').log(situation(settings, app.get(AuxiliaryModel).providerNames));
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
}

/** What an operator wants to know first. */
function situation(settings: Settings, models: readonly string[]): string {
  const { database_url: url, data_dir: directory, admin_api_key: key } = settings.environment;
  return [
    url === undefined ? `data in ${directory}` : 'data in the Postgres of DATABASE_URL',
    models.length > 0 ? `models: ${models.join(', ')}` : 'no model: turns are stored and not learned from',
    key === undefined ? 'open to this machine, no key needed' : 'every request needs a key',
  ].join('; ');
}

/** What a failed start means for the one who started; one line where the cause is known. */
export function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof BootError) return error.message;
  const { code, syscall, port, address, hostname } = error as ListenError;
  if (code === 'EADDRINUSE') return `port ${port} is taken: stop what listens there, or set PORT to another`;
  if (code === 'EADDRNOTAVAIL') return `HOST ${address} is no address of this machine: set HOST to one that is`;
  if (code === 'EACCES' && syscall === 'listen') {
    return `this user may not listen on PORT ${port}: set PORT to one above 1023`;
  }
  if (syscall === 'getaddrinfo') return `HOST ${hostname} could not be resolved (${code}): set HOST to an IP address`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

interface ListenError {
  code?: string;
  syscall?: string;
  port?: number;
  address?: string;
  hostname?: string;
}
