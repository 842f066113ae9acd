import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { lockByFile, lockDirectory } from './directory-lock.js';

const parent = mkdtempSync(join(tmpdir(), 'directory-lock-spec-'));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

describe.each([
  ['lockDirectory', lockDirectory],
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
