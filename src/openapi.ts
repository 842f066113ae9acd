import 'reflect-metadata';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { openApiDocument } from './openapi.document.js';
import { loadSettings } from './platform/config/load-settings.js';
import { createFastifyAdapter } from './platform/http/fastify-adapter.js';

/** Writes openapi.json from the code; with `--check`, fails where the committed one differs. */
const file = join(import.meta.dirname, '../../openapi.json');
const app = await NestFactory.create<NestFastifyApplication>(
  AppModule.forRoot(loadSettings({ env: {}, cwd: '/' })),
  createFastifyAdapter(),
  { preview: true, logger: ['error'], bodyParser: false },
);
const text = JSON.stringify(openApiDocument(app), null, 2) + '\n';
if (process.argv.includes('--check')) {
  const committed = await readFile(file, 'utf8').catch(() => '');
  if (committed !== text) {
    process.stderr.write('openapi.json differs from the code: run `npm run openapi` and commit it\n');
    process.exitCode = 1;
  }
} else {
  await writeFile(file, text);
}
