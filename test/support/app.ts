import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import request from 'supertest';
import type TestAgent from 'supertest/lib/agent.js';
import { createApp } from '../../src/app.factory.js';
import { organizationValidator } from '../../src/core/organization/organization.document.js';
import { loadSettings } from '../../src/platform/config/load-settings.js';
import { Database } from '../../src/platform/database/database.js';
import { resetDatabase, testConnection } from './database.js';
import type { ScriptedModel } from './scripted-model.js';

export interface AppOptions {
  /** Environment variables; nothing of the test process's own is passed on. */
  env?: Record<string, string>;
  /** What learning.yaml would say. */
  config?: Record<string, unknown>;
  /** Answers as the provider `default`; without one no model is configured. */
  model?: ScriptedModel;
  /** Leaves what is in the database. @default false */
  keepData?: boolean;
}

export interface TestApp {
  app: NestFastifyApplication;
  http: TestAgent;
  database: Database;
  /** Waits until the reflection on a turn has ended, and answers with `GET /turns/:turn_id`. */
  reflected(turnId: string, headers?: Record<string, string>): Promise<TurnAnswer>;
  close(): Promise<void>;
}

export interface TurnAnswer {
  reflection: {
    status: string;
    reason: string | null;
    workers: {
      worker: string;
      part: string;
      status: string;
      reason: string | null;
      attempts: number;
      error: string | null;
    }[];
  };
}

/** The real application on the database of this Jest worker, emptied before. Call `close` in `afterAll`. */
export async function startApp(options: AppOptions = {}): Promise<TestApp> {
  if (!options.keepData) await resetDatabase();
  const address = testConnection();
  const directory = await mkdtemp(join(tmpdir(), 'agent-learning-test-'));
  const config = join(directory, 'learning.yaml');
  await writeFile(config, JSON.stringify(options.config ?? {}));
  const settings = loadSettings({
    cwd: directory,
    validators: [organizationValidator],
    env: {
      LEARNING_CONFIG: config,
      ...('databaseUrl' in address ? { DATABASE_URL: address.databaseUrl } : {}),
      ...(options.model ? { ANTHROPIC_API_KEY: 'test', ANTHROPIC_BASE_URL: options.model.anthropicUrl } : {}),
      ...options.env,
    },
  });
  const embeddedUrl = 'embeddedUrl' in address ? address.embeddedUrl : undefined;
  const app = await createApp(settings, { logger: process.env.TEST_LOG ? undefined : false, embeddedUrl });
  await app.listen(0, '127.0.0.1');
  const http = request.agent(app.getHttpServer());
  return {
    app,
    http,
    database: app.get(Database),
    reflected: (turnId, headers) => ended(http, turnId, headers ?? {}),
    async close() {
      await app.close();
      await rm(directory, { recursive: true });
    },
  };
}

async function ended(http: TestAgent, turnId: string, headers: Record<string, string>): Promise<TurnAnswer> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const { body } = (await http.get(`/turns/${turnId}`).set(headers)) as { body: TurnAnswer };
    if (['done', 'skipped', 'dead'].includes(body.reflection?.status)) return body;
    if (Date.now() > deadline) throw new Error(`turn ${turnId} is still ${JSON.stringify(body.reflection ?? body)}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
