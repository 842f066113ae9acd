import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Screening } from '../../core/screening/screening.js';
import { Settings } from '../../platform/config/settings.js';
import { storableText } from '../../platform/text/storable-text.js';
import { MAX_FILE_BYTES, readSkillFile } from './tool-skill.format.js';
import { MAX_SKILLS, type SourcedSkill, type ToolSkill } from './tool-skill.models.js';

/** The same way from the sources and from what is built of them. */
const BUNDLED = fileURLToPath(new URL('../../../examples/tool-skills', import.meta.url));

interface KnownFile {
  /** The last good copy; null where the file has never been a skill. */
  skill: ToolSkill | null;
  problem: string | null;
}

/**
 * The tool skills of a directory of `*.md` files, read again every `tool_skills.refresh_seconds`. A file that breaks is
 * told once and its last good copy stays; so does everything where the directory cannot be read.
 */
@Injectable()
export class SkillDirectory implements OnApplicationBootstrap {
  private readonly log = new Logger(SkillDirectory.name);
  private readonly directory: string;
  private readonly refreshMs: number;
  private files = new Map<string, KnownFile>();
  private readable = true;
  /** Milliseconds of the process's own clock, which nobody sets. */
  private readAt = -Infinity;
  private reading: Promise<void> | null = null;

  constructor(
    settings: Settings,
    private readonly screening: Screening,
  ) {
    this.directory = settings.tool_skills.directory ?? BUNDLED;
    this.refreshMs = settings.tool_skills.refresh_seconds * 1_000;
  }

  /** What is wrong with a file is told at the start, not at the first turn. */
  async onApplicationBootstrap(): Promise<void> {
    await this.all();
  }

  /** In the order of the files' names, so that of two files with one key the first holds. Never throws. */
  async all(): Promise<SourcedSkill[]> {
    if (performance.now() - this.readAt >= this.refreshMs) {
      this.reading ??= this.refresh().finally(() => (this.reading = null));
      await this.reading;
    }
    return [...this.files].flatMap(([origin, { skill }]) =>
      skill ? [{ ...skill, source: 'directory' as const, origin, released: false, updatedAt: null }] : [],
    );
  }

  private async refresh(): Promise<void> {
    try {
      const names = (await readdir(this.directory)).filter((name) => name.endsWith('.md') && !name.startsWith('.'));
      const files = new Map<string, KnownFile>();
      for (const name of names.sort().slice(0, MAX_SKILLS)) files.set(name, await this.read(name));
      if (names.length > MAX_SKILLS && this.files.size < MAX_SKILLS) {
        this.log.warn(`${this.directory} holds ${names.length} files; the first ${MAX_SKILLS} are read`);
      }
      this.files = files;
      this.readable = true;
    } catch (error) {
      if (this.readable) this.log.warn(`${this.directory} cannot be read, what was read stays: ${messageOf(error)}`);
      this.readable = false;
    }
    this.readAt = performance.now();
  }

  private async read(name: string): Promise<KnownFile> {
    const known = this.files.get(name) ?? { skill: null, problem: null };
    const { skill, problem } = await this.parse(name);
    if (skill) return { skill, problem: null };
    if (problem !== known.problem) {
      const kept = known.skill ? '; its last good copy stays' : '';
      this.log.warn(`tool skill ${join(this.directory, name)} ${problem}${kept}`);
    }
    return { skill: known.skill, problem };
  }

  private async parse(name: string): Promise<{ skill: ToolSkill | null; problem: string | null }> {
    try {
      const path = join(this.directory, name);
      const entry = await stat(path);
      if (!entry.isFile()) return { skill: null, problem: 'is no file' };
      if (entry.size > MAX_FILE_BYTES) return { skill: null, problem: `is larger than ${MAX_FILE_BYTES} bytes` };
      const { skill, problem } = readSkillFile(storableText(await readFile(path, 'utf8')));
      if (!skill) return { skill, problem };
      const verdict = this.screening.checkProcedure(skill.title, skill.summary, skill.body);
      return verdict.flagged ? { skill: null, problem: verdict.detail } : { skill, problem: null };
    } catch (error) {
      return { skill: null, problem: `cannot be read: ${messageOf(error)}` };
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
