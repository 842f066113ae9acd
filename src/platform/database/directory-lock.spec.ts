import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { TestProcess } from '../../../test/support/child-process.js';
import { lockByFile, lockBySocket, lockDirectory } from './directory-lock.js';

const parent = mkdtempSync(join(tmpdir(), 'directory-lock-spec-'));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

describe.each([
  ['lockDirectory', lockDirectory],
  ['lockBySocket', lockBySocket],
  ['lockByFile', lockByFile],
])('%s', (_name, lock) => {
  it('gives a directory to one, until it is given back', async () => {
    const directory = mkdtempSync(join(parent, 'one-'));
    const release = await lock(directory);
    await expect(lock(directory)).rejects.toThrow(
      /^the data directory \S+ is in use by .*: stop it, or give this one another/,
    );
    await release();
    await (
      await lock(directory)
    )();
  });

  it('gives it to exactly one of many that ask at once', async () => {
    const directory = mkdtempSync(join(parent, 'many-'));
    const asked = await Promise.allSettled(Array.from({ length: 8 }, () => lock(directory)));
    const won = asked.filter((each) => each.status === 'fulfilled');
    expect(won).toHaveLength(1);
    await won[0]?.value();
  });

  it('keeps directories apart', async () => {
    const releases = await Promise.all(['a-', 'b-'].map((name) => lock(mkdtempSync(join(parent, name)))));
    await Promise.all(releases.map((release) => release()));
  });
});

describe('lockByFile', () => {
  it.each(['999999999', 'no number', ''])('takes over from a process that is no more (%j)', async (pid) => {
    const directory = mkdtempSync(join(parent, 'stale-'));
    writeFileSync(join(directory, 'lock'), pid);
    await (
      await lockByFile(directory)
    )();
    expect(existsSync(join(directory, 'lock'))).toBe(false);
  });

  it('names the living process that holds it', async () => {
    const directory = mkdtempSync(join(parent, 'held-'));
    writeFileSync(join(directory, 'lock'), `${process.ppid}\n`);
    await expect(lockByFile(directory)).rejects.toThrow(`is in use by process ${process.ppid}: `);
  });
});

// As in two containers that share a volume, the abstract socket of neither being seen by the other.
describe('lockBySocket', () => {
  const holders: TestProcess[] = [];
  afterEach(async () => {
    await Promise.all(holders.splice(0).map((each) => each.end('SIGKILL')));
  });
  const holder = (directory: string): TestProcess => {
    const started = new TestProcess('lock-process.ts', { args: [directory] });
    holders.push(started);
    return started;
  };

  it.each(['short', 'long/'.repeat(40)])(
    'refuses what another process holds, until that is killed (%s)',
    async (name) => {
      const directory = join(mkdtempSync(join(parent, 'socket-')), name);
      mkdirSync(directory, { recursive: true });
      const first = holder(directory);
      await first.wrote(1);
      expect(first.lines).toEqual(['locked']);
      await expect(lockBySocket(directory)).rejects.toThrow(/ is in use by another process: stop it/);
      await expect(lockDirectory(directory)).rejects.toThrow(/ is in use by another process: stop it/);
      await first.end('SIGKILL');
      expect(existsSync(join(directory, 'lock.sock'))).toBe(true);
      await (
        await lockDirectory(directory)
      )();
      expect(existsSync(join(directory, 'lock.sock'))).toBe(false);
    },
  );

  it('gives what a killed process held to exactly one of three', async () => {
    const directory = mkdtempSync(join(parent, 'stale-'));
    const first = holder(directory);
    await first.wrote(1);
    await first.end('SIGKILL');
    const three = [holder(directory), holder(directory), holder(directory)];
    await Promise.all(three.map((each) => each.wrote(1)));
    expect(three.filter(({ lines }) => lines[0] === 'locked')).toHaveLength(1);
    await expect(lockBySocket(directory)).rejects.toThrow(/ is in use by another process: stop it/);
  });

  it('takes over a file that is no socket', async () => {
    const directory = mkdtempSync(join(parent, 'file-'));
    writeFileSync(join(directory, 'lock.sock'), '');
    await (
      await lockBySocket(directory)
    )();
  });
});
