import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { plainToInstance } from 'class-transformer';
import { ConfigError, type ConfigProblem } from './config-error.js';
import { readConfigFile, withoutNulls } from './config-file.js';
import { Environment, readEnvironment } from './environment.js';
import { crossProblems } from './cross-checks.js';
import { problemsOf } from './option-problems.js';
import { LlmProviderSettings } from './service-settings.js';
import { FileSettings, Settings } from './settings.js';

export { ConfigError };

/** Judges a block that the domain gives its meaning to. */
export interface BlockValidator {
  block: 'organization';
  problems(value: unknown): ConfigProblem[];
}

export interface LoadOptions {
  /** @default the process's own */
  env?: NodeJS.ProcessEnv;
  /** Directory in which `learning.yaml` is looked for and from which relative paths start. @default the process's own */
  cwd?: string;
  validators?: readonly BlockValidator[];
}

/** The model that `ANTHROPIC_API_KEY` alone is enough for. */
const DEFAULT_MODEL = 'claude-haiku-5-5';

/**
 * Reads the environment and learning.yaml, fills in defaults and checks everything.
 * @throws ConfigError that lists every problem of both at once.
 */
export function loadSettings({ env = process.env, cwd = process.cwd(), validators = [] }: LoadOptions = {}): Settings {
  const file = readConfigFile(env.LEARNING_CONFIG?.trim() || undefined, cwd);
  const { organization, ...options } = file.content;

  const environment = plainToInstance(Environment, readEnvironment(env));
  const fileSettings = plainToInstance(FileSettings, withoutNulls(options));
  const problems = [
    ...problemsOf(environment).map(({ path, message }) => ({ path: path.toUpperCase(), message })),
    ...file.problems,
    ...problemsOf(fileSettings),
    ...validators.flatMap((validator) => blockProblems(validator, organization)),
  ];
  fileSettings.organization = organization ?? undefined;

  const settings = Settings.of(fileSettings, environment, env);
  problems.push(...crossProblems(settings, problems));

  environment.data_dir = resolve(cwd, String(environment.data_dir));
  const { tool_skills, llm } = settings;
  if (typeof tool_skills?.directory === 'string') {
    tool_skills.directory = resolve(file.directory, tool_skills.directory);
    if (!existsSync(tool_skills.directory)) {
      problems.push({ path: 'tool_skills.directory', message: `${tool_skills.directory} does not exist` });
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);

  if (llm.providers.size === 0 && environment.anthropic_api_key !== undefined) {
    const fallback = Object.assign(new LlmProviderSettings(), { kind: 'anthropic', model: DEFAULT_MODEL });
    llm.providers.set('default', fallback);
  }
  return settings;
}

function blockProblems(validator: BlockValidator, value: unknown): ConfigProblem[] {
  if (value === undefined || value === null) return [];
  const { block } = validator;
  return validator
    .problems(value)
    .map(({ path, message }) => ({ path: path === '' ? block : `${block}.${path}`, message }));
}
