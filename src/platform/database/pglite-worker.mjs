import { existsSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { guarded } from './pglite-guard.mjs';

/** The thread of the embedded database: see embedded-database.ts, which starts it and speaks to it. */
const { directory, tar, socketPath, maxConnections } = workerData;

let fatal = false;
function onFatal(error) {
  if (fatal) return;
  fatal = true;
  parentPort.postMessage({ type: 'fatal', message: String(error?.message ?? error) });
}

async function open(dataDir) {
  const loadDataDir = tar && !(dataDir && existsSync(dataDir)) ? new Blob([await readFile(tar)]) : undefined;
  let reason;
  const onStderr = (text) => {
    const [, said] = /(?:FATAL|PANIC): +(.*)/.exec(text) ?? [];
    reason ??= said;
    return true;
  };
  try {
    return await PGlite.create({ dataDir, loadDataDir, extensions: { vector }, onStderr });
  } catch (error) {
    // PGlite's own message does not say why Postgres ended.
    throw reason ? new Error(reason, { cause: error }) : error;
  }
}

/** A cluster is built beside its place and moved there whole, so that a start that is killed leaves no half of one. */
async function openOrCreate() {
  if (!directory) return open(undefined);
  if (!existsSync(directory)) {
    const unfinished = `${directory}.unfinished`;
    await rm(unfinished, { recursive: true, force: true });
    const db = await open(unfinished);
    await db.close();
    await rename(unfinished, directory);
  }
  return open(directory);
}

const db = await openOrCreate();
const server = new PGLiteSocketServer({ db: guarded(db, onFatal), path: socketPath, maxConnections });

const commands = {
  async dump({ file }) {
    const dumped = await db.dumpDataDir('none');
    await writeFile(`${file}.${process.pid}`, Buffer.from(await dumped.arrayBuffer()));
    await rename(`${file}.${process.pid}`, file);
  },
  async stop() {
    await server.stop();
    if (!fatal) await db.close();
  },
};

parentPort.on('message', async (message) => {
  try {
    await commands[message.type](message);
    parentPort.postMessage({ type: 'done', id: message.id });
  } catch (error) {
    parentPort.postMessage({ type: 'failed', id: message.id, message: String(error?.message ?? error) });
  }
});

await server.start();
parentPort.postMessage({ type: 'ready' });
