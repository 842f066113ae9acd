import { createReadStream, type ReadStream } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Characters that are gathered before they are written. */
const CHUNK = 256 * 1024;

/**
 * Lines on disk, of any number: what waits for a slow client must hold neither memory nor a transaction. The file has no
 * name from the start, so nothing of it is left behind if the process ends.
 */
export class SpoolFile {
  private pending: string[] = [];
  private size = 0;

  private constructor(private readonly file: FileHandle) {}

  static async create(): Promise<SpoolFile> {
    const directory = await mkdtemp(join(tmpdir(), 'agent-learning-spool-'));
    try {
      return new SpoolFile(await open(join(directory, 'lines'), 'wx+', 0o600));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  async write(line: string): Promise<void> {
    this.pending.push(line, '\n');
    this.size += line.length + 1;
    if (this.size >= CHUNK) await this.flush();
  }

  /** From the first byte; ending or destroying it gives the file back, unless it is to be read again. */
  async read(options: { keep?: boolean } = {}): Promise<ReadStream> {
    await this.flush();
    return createReadStream('', { fd: this.file, start: 0, autoClose: !options.keep });
  }

  async close(): Promise<void> {
    await this.file.close();
  }

  private async flush(): Promise<void> {
    const text = this.pending.join('');
    this.pending = [];
    this.size = 0;
    if (text !== '') await this.file.appendFile(text);
  }
}
