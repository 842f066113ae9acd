import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ApiClient } from './api-client.js';
import { ASKING, askEpisodes, askPlanContext } from './demo-asking.js';
import { beside, wrapped } from './demo-columns.js';
import { replayAndReflect, secondsSince } from './demo-replay.js';
import { endings, learnedBy, quarantined } from './demo-report.js';
import { freePort, isTaken, ServiceEnded, ServiceProcess } from './demo-service.js';
import { type LocalModel, startLocalModel } from './local-model.js';
import { inTimeOrder, readTurns, type TurnLine } from './replay.js';

const USAGE = `Usage: npm run demo [-- --once]
Starts the service on a fresh database, replays the example turns and shows what was learned from them.
  --once   end after that instead of serving on
PORT, HOST, DATABASE_URL, ADMIN_API_KEY, LEARNING_CONFIG and ANTHROPIC_API_KEY are honoured.`;

const MIN_WIDTH_FOR_COLUMNS = 100;
const width = Math.min(160, process.stdout.columns ?? 120);
const stopping = new AbortController();
const root = projectRoot();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { once: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
  });
  if (values.help) {
    say(USAGE);
    return 0;
  }
  const gateway = process.env.ANTHROPIC_BASE_URL?.trim();
  const model = process.env.ANTHROPIC_API_KEY?.trim() ? null : await startLocalModel();
  say(
    model
      ? 'no ANTHROPIC_API_KEY: using the scripted local model, a set of rules, not an AI'
      : `ANTHROPIC_API_KEY is set: using the Anthropic API${gateway ? ` at ${gateway}` : ''}`,
  );
  try {
    return await runOn(model, values.once);
  } catch (error) {
    if (!(error instanceof ServiceEnded)) throw error;
    process.stderr.write(`${error.message}\n`);
    return error.exitCode || 1;
  } finally {
    stopping.abort();
    await model?.close();
  }
}

async function runOn(model: LocalModel | null, once: boolean): Promise<number> {
  const runDirectory = join(root, 'data', 'demo', new Date().toISOString().replace(/[:.]/g, '-'));
  await mkdir(runDirectory, { recursive: true });
  const logFile = join(runDirectory, 'service.log');
  say(
    process.env.DATABASE_URL
      ? 'database: DATABASE_URL'
      : `database: embedded, fresh in ${relative(root, runDirectory)}, removed at the end`,
  );
  say(`log of the service: ${relative(root, logFile)}`);

  const host = process.env.HOST?.trim() || '127.0.0.1';
  const wanted = Number(process.env.PORT?.trim() || 3000);
  const port = wanted === 0 ? await freePort(host) : wanted;
  const api = new ApiClient(
    `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    process.env.ADMIN_API_KEY?.trim(),
  );
  const taken = await isTaken(host, port);
  const started = performance.now();
  const service = ServiceProcess.start({
    entry: join(root, 'dist', 'src', 'main.js'),
    cwd: root,
    logFile,
    env: {
      ...process.env,
      ...(wanted === 0 ? { PORT: String(port) } : {}),
      DATA_DIR: runDirectory,
      NO_COLOR: '1',
      ...(model ? { ANTHROPIC_API_KEY: 'scripted-local-model', ANTHROPIC_BASE_URL: model.url } : {}),
    },
  });
  stopping.signal.addEventListener('abort', () => void service.stop(), { once: true });
  try {
    if (taken) await service.outlastsConflict();
    await service.ready(api);
    say(`ready after ${secondsSince(started)} s at ${api.url}`);
    await service.during(once ? show(api) : show(api).then(() => serve(api)));
  } catch (error) {
    // A stop that was asked for breaks off whatever is under way.
    if (!stopping.signal.aborted) throw error;
  } finally {
    await service.stop();
  }
  // Left behind only where something went wrong: a database directory takes some 40 MB.
  await rm(runDirectory, { recursive: true, force: true });
  return 0;
}

async function show(api: ApiClient): Promise<void> {
  const before = await askPlanContext(api);
  const turns = await exampleTurns();
  const agents = [...new Set(turns.map(({ agent }) => agent))].sort();

  section(`Replaying ${turns.length} finished turns of ${agents.length} agents`);
  const reflections = await replayAndReflect({ api, turns, agents, signal: stopping.signal });

  section('What was learned');
  for (const agent of agents) say(`${await learnedBy(api, agent, width)}\n`);
  for (const held of await quarantined(api)) say(`${paragraph(`QUARANTINED, for an operator to judge: ${held}`)}\n`);
  say('How the reflection workers ended:');
  for (const line of endings(reflections)) say(`  ${line}`);

  section(`The same message before and after: ${ASKING.sender.display_name} to ${ASKING.agent}`);
  say(`"${ASKING.body}"\n`);
  const after = await askPlanContext(api);
  say(
    width >= MIN_WIDTH_FOR_COLUMNS
      ? beside({ title: 'before', text: before.text }, { title: 'after', text: after.text }, width)
      : `BEFORE\n${paragraph(before.text)}\n\nAFTER\n${paragraph(after.text)}`,
  );

  section(`Tool call: query_episodes("${ASKING.query}")`);
  say(paragraph(await askEpisodes(api, after.turnId)));
}

async function serve(api: ApiClient): Promise<void> {
  section('Serving; Ctrl-C ends');
  say(`API with a page to try it on   ${api.url}/docs`);
  say(`everything one agent knows     ${api.url}/agents/${ASKING.agent}/memory`);
  await new Promise((resolve) => stopping.signal.addEventListener('abort', resolve, { once: true }));
}

async function exampleTurns(): Promise<TurnLine[]> {
  const directory = join(root, 'examples', 'turns');
  const files = (await readdir(directory)).filter((name) => name.endsWith('.ndjson'));
  return inTimeOrder((await Promise.all(files.map((name) => readTurns(join(directory, name))))).flat());
}

function say(text = ''): void {
  process.stdout.write(`${text}\n`);
}

function section(title: string): void {
  say(`\n── ${title} ${'─'.repeat(Math.max(0, width - title.length - 4))}`);
}

function paragraph(text: string): string {
  return wrapped(text, width).join('\n');
}

function projectRoot(): string {
  let directory = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(directory, 'package.json'))) {
    const parent = resolve(directory, '..');
    if (parent === directory) throw new Error('package.json was not found above the demo');
    directory = parent;
  }
  return directory;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort());
if (process.env.npm_lifecycle_event) {
  // npm's shell does not hand every signal on: without this a killed `npm run demo` would leave the service running.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && stopping.abort(), 500).unref();
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  },
);
