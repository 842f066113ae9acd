import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import type { ConfigProblem } from './config-error.js';

export interface ConfigFile {
  /** Directory that relative paths in the file start from. */
  directory: string;
  content: Record<string, unknown>;
  problems: ConfigProblem[];
}

/**
 * Reads learning.yaml, YAML or JSON: the file that `named` names, else `./learning.yaml` in `cwd` where there is one.
 * Options without a value count as left out. What cannot be read is a problem, never a throw.
 */
export function readConfigFile(named: string | undefined, cwd: string): ConfigFile {
  const path = resolve(cwd, named ?? 'learning.yaml');
  const file: ConfigFile = { directory: dirname(path), content: {}, problems: [] };
  if (named === undefined && !existsSync(path)) return file;
  try {
    const content = parse(path, readFileSync(path, 'utf8'), file.problems);
    if (isMapping(content)) file.content = content;
    else if (content !== null) file.problems.push({ path, message: 'must be a mapping of options' });
  } catch (error) {
    file.problems.push({
      path: named === undefined ? path : 'LEARNING_CONFIG',
      message: `cannot be read: ${text(error)}`,
    });
  }
  return file;
}

/** `value` without the keys that hold null, at any depth: a heading whose options are all commented out is null. */
export function withoutNulls(value: unknown): unknown {
  if (!isMapping(value)) return value;
  const kept = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutNulls(item)]));
}

export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parse(path: string, source: string, problems: ConfigProblem[]): unknown {
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  for (const fault of [...document.errors, ...document.warnings]) {
    const { line, col } = lines.linePos(fault.pos[0]);
    problems.push({ path: `${path}:${line}:${col}`, message: fault.message });
  }
  return document.errors.length > 0 ? null : (document.toJS() as unknown);
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
