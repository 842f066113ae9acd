import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import type { BlockValidator } from './load-settings.js';
import { ConfigError, loadSettings } from './load-settings.js';
import { optionsOf } from './option-problems.js';
import type { Settings } from './settings.js';

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'config-'));
});

afterEach(() => {
  rmSync(cwd, { recursive: true });
});

interface Given {
  env?: NodeJS.ProcessEnv;
  file?: string;
  validators?: BlockValidator[];
}

function load({ env = {}, file, validators }: Given = {}): Settings {
  if (file !== undefined) writeFileSync(join(cwd, 'learning.yaml'), file);
  return loadSettings({ env, cwd, validators });
}

function refusal(given: Given & { named?: string }): ConfigError {
  try {
    load(given);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('was accepted');
}

const paths = (error: ConfigError): string[] => error.problems.map(({ path }) => path);

describe('defaults', () => {
  it('needs neither a file nor a variable', () => {
    const settings = load();
    expect(settings.environment).toMatchObject({
      port: 3000,
      host: '127.0.0.1',
      data_dir: join(cwd, 'data'),
      log_level: 'log',
    });
    expect(settings.environment.admin_api_key).toBeUndefined();
    expect(settings.organization).toBeUndefined();
    expect(settings.llm.providers.size).toBe(0);
    expect(settings.embeddings.provider).toBe('hashing');
    expect(settings.planning.deadline_ms).toBe(8000);
    expect(settings.learning.skill_synthesis).toMatchObject({ scheduler_enabled: true, cluster_window_hours: 0 });
  });

  it('keeps the defaults beside the options that are set', () => {
    const { learning } = load({ file: 'learning: { reflect: { budget_tokens: 7 } }' });
    expect(learning.reflect).toMatchObject({ budget_tokens: 7, enabled: true });
    expect(learning.skill_curator.archive_after_days).toBe(90);
  });

  it('takes an empty variable and an empty option for unset', () => {
    const env = { PORT: '', ADMIN_API_KEY: '  ', DATABASE_URL: '', LEARNING_CONFIG: '' };
    const settings = load({ env, file: 'learning:\n  reflect:\n    budget_tokens:\nplanning:\n' });
    expect(settings.environment.port).toBe(3000);
    expect(settings.environment.admin_api_key).toBeUndefined();
    expect(settings.environment.database_url).toBeUndefined();
    expect(settings.learning.reflect.budget_tokens).toBe(5000);
    expect(settings.planning.deadline_ms).toBe(8000);
  });

  it('makes Anthropic the default provider where its key is all there is', () => {
    const settings = load({ env: { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'http://gateway:1/x' } });
    const provider = settings.llm.providers.get('default')!;
    expect(provider).toMatchObject({
      kind: 'anthropic',
      model: 'claude-haiku-5-5',
      timeout_seconds: 60,
      max_retries: 2,
    });
    expect(settings.llmAccess(provider)).toEqual({ api_key: 'k', base_url: 'http://gateway:1/x' });
  });
});

describe('the file', () => {
  it('may be JSON, tabs and all, wherever LEARNING_CONFIG names it', () => {
    writeFileSync(join(cwd, 'own.json'), '{\n\t"planning": {\n\t\t"deadline_ms": 500\n\t}\n}\n');
    writeFileSync(join(cwd, 'learning.yaml'), 'planning: { deadline_ms: 900 }');
    expect(load({ env: { LEARNING_CONFIG: 'own.json' } }).planning.deadline_ms).toBe(500);
  });

  it('that LEARNING_CONFIG names must exist', () => {
    expect(paths(refusal({ env: { LEARNING_CONFIG: 'nowhere.yaml' } }))).toEqual(['LEARNING_CONFIG']);
  });

  it('with broken syntax is refused with its line', () => {
    expect(paths(refusal({ file: 'planning:\n  deadline_ms: [1\n' }))[0]).toMatch(/learning\.yaml:3:\d+$/);
  });

  it('with the same key twice is refused with its line', () => {
    expect(paths(refusal({ file: 'planning: {}\nllm: {}\nplanning: {}\n' }))[0]).toMatch(/learning\.yaml:3:1$/);
  });

  it.each(['- 1\n', 'text', '5'])('that is no mapping is refused: %j', (file) => {
    expect(refusal({ file }).message).toMatch('must be a mapping');
  });

  it('starts relative paths at its own directory', () => {
    mkdirSync(join(cwd, 'sub/skills'), { recursive: true });
    writeFileSync(join(cwd, 'sub/x.yaml'), 'tool_skills: { directory: skills }');
    expect(load({ env: { LEARNING_CONFIG: 'sub/x.yaml' } }).tool_skills.directory).toBe(join(cwd, 'sub/skills'));
  });
});

describe('problems', () => {
  it('are all listed at once, each on a line with its path', () => {
    const error = refusal({
      env: { PORT: '70000', HOST: '0.0.0.0', LOG_LEVEL: 'loud', CONFLUENCE_USERNAME: 'bob' },
      file: `
        plannning: {}
        organization: { name: 5 }
        secret_env: { Acme: [ADMIN_API_KEY] }
        llm:
          providers:
            a: { kind: anthropic }
            b: 5
            c: { kind: other, model: m, api_key_env: UNSET_C }
        embeddings: { provider: openai_compatible, dimensions: "5" }
        knowledge: { backend: plane }
        tool_skills: { confluence: { space: X }, directory: nowhere }
        learning:
          enabled: yes
          reflect: [1]
          skill_synthesis: { min_tool_call: 5, cluster_min_size: 1 }
      `,
      validators: [{ block: 'organization', problems: () => [{ path: 'name', message: 'must be a text' }] }],
    });
    expect(paths(error).sort()).toEqual([
      'CONFLUENCE_API_TOKEN',
      'HOST',
      'LOG_LEVEL',
      'PLANE_BASE_URL',
      'PLANE_WORKSPACE',
      'PORT',
      'embeddings',
      'embeddings.dimensions',
      'embeddings.model',
      'learning.enabled',
      'learning.reflect',
      'learning.skill_synthesis.cluster_min_size',
      'learning.skill_synthesis.min_tool_call',
      'llm.providers.a',
      'llm.providers.a.model',
      'llm.providers.b',
      'llm.providers.c.kind',
      'organization.name',
      'plannning',
      'secret_env.Acme',
      'tool_skills.confluence.parent',
      'tool_skills.directory',
    ]);
    expect(error.message.split('\n')).toHaveLength(error.problems.length + 1);
    expect(error.message).toMatch('\n  PORT: must be a whole number from 0 to 65535\n');
  });

  it.each([
    ['PORT', '-1'],
    ['PORT', '65536'],
    ['PORT', '3000.5'],
    ['PORT', '0x10'],
    ['HOST', 'http://x'],
    ['DATABASE_URL', 'mysql://x'],
    ['ADMIN_API_KEY', 'two words'],
    ['ANTHROPIC_BASE_URL', 'api.anthropic.com'],
    ['OPENAI_BASE_URL', 'http://user:pass@x'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'ftp://x'],
    ['LOG_LEVEL', 'silent'],
  ])('%s=%s is refused by its name, without its value', (name, value) => {
    const error = refusal({ env: { [name]: value } });
    expect(paths(error)).toEqual([name]);
    expect(error.message).not.toContain(value);
  });

  it.each(['0', '65535'])('PORT=%s is accepted', (PORT) => {
    expect(load({ env: { PORT } }).environment.port).toBe(Number(PORT));
  });

  it.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost'])('HOST=%s needs no key', (HOST) => {
    expect(load({ env: { HOST } }).environment.host).toBe(HOST);
  });

  it.each(['0.0.0.0', '::', '10.0.0.1', 'example.org', '::ffff:10.0.0.1'])('HOST=%s needs ADMIN_API_KEY', (HOST) => {
    expect(paths(refusal({ env: { HOST } }))).toEqual(['HOST']);
    expect(load({ env: { HOST, ADMIN_API_KEY: 'k' } }).environment.host).toBe(HOST);
  });

  it.each([
    'learning: { reflect: { budget_tokens: "5" } }',
    'learning: { reflect: { budget_tokens: 1.5 } }',
    'learning: { reflect: { budget_tokens: -1 } }',
    'learning: { reflect: { enabled: "true" } }',
    'learning: { skill_synthesis: { duplicate_jaccard_threshold: 1.1 } }',
    'learning: { skill_curator: { stale_after_days: 30, archive_after_days: 29 } }',
    'llm: { providers: { a: { kind: anthropic, model: m, api_key_env: UNSET } } }',
    'learning: []',
    'learning: 5',
    'llm: { providers: [] }',
    'llm: { providers: { a: [] } }',
    'llm: { providers: { a: null } }\nx: 1',
    'secret_env: { Acme: X }',
    'secret_env: [X]',
    'tool_skills: { variables: { a: { b: c } } }',
    'tool_skills: { refresh_seconds: .nan }',
    'environment: { port: 5 }',
  ])('are found in %j', (file) => {
    expect(refusal({ file }).problems).toHaveLength(1);
  });
});

describe('secrets', () => {
  it('of a provider come from the variable that it names, else from the shared one', () => {
    const settings = load({
      env: { OWN: 'own', OPENAI_API_KEY: 'shared', OPENAI_BASE_URL: 'http://shared:1/v1' },
      file: `llm: { providers: {
        a: { kind: openai_compatible, model: m, base_url: "http://own:1/v1", api_key_env: OWN },
        b: { kind: openai_compatible, model: m },
        c: { kind: openai_compatible, model: m, base_url: "http://own:1/v1" } } }`,
    });
    const { providers } = settings.llm;
    expect(settings.llmAccess(providers.get('a')!)).toEqual({ api_key: 'own', base_url: 'http://own:1/v1' });
    expect(settings.llmAccess(providers.get('b')!)).toEqual({ api_key: 'shared', base_url: 'http://shared:1/v1' });
    expect(settings.llmAccess(providers.get('c')!)).toEqual({ api_key: undefined, base_url: 'http://own:1/v1' });
    expect(settings.embeddingsAccess()).toEqual({ api_key: 'shared', base_url: 'http://shared:1/v1' });
  });

  it('of an organisation are only those listed for it', () => {
    const env = { A: 'a', B: 'b' };
    const settings = load({ env, file: 'secret_env: { Acme: [A, UNSET], Other: [B], __proto__: [A] }' });
    const acme = (name: string): boolean => name === 'Acme';
    expect(settings.organizationSecret(acme, 'A')).toBe('a');
    expect(settings.organizationSecret(acme, 'B')).toBeUndefined();
    expect(settings.organizationSecret(acme, 'UNSET')).toBeUndefined();
    expect(settings.organizationSecret((name) => name === 'default', 'A')).toBeUndefined();
  });

  it('that nothing names are not part of what can be printed', () => {
    const settings = load({ env: { SOMETHING_ELSE: 'hush' } });
    expect(JSON.stringify(settings)).not.toContain('hush');
    expect(settings.secret('SOMETHING_ELSE')).toBe('hush');
  });
});

describe('examples/learning.yaml', () => {
  const text = readFileSync(new URL('../../../examples/learning.yaml', import.meta.url), 'utf8');

  it('holds the defaults', () => {
    expect(load({ file: text })).toEqual(load({ file: '' }));
  });

  it('holds every option there is', () => {
    mkdirSync(join(cwd, 'tool-skills'));
    const everything = text.replaceAll(/^( *)#(?! \S)/gm, '$1').replaceAll(/: \{\}$/gm, ':');
    const env = {
      QWEN_API_KEY: 'k',
      EMBEDDINGS_API_KEY: 'k',
      CONFLUENCE_BASE_URL: 'http://c',
      CONFLUENCE_PERSONAL_TOKEN: 'k',
      PLANE_BASE_URL: 'http://p',
      PLANE_WORKSPACE: 'w',
      PLANE_API_KEY: 'k',
    };
    const settings = load({ env, file: everything });
    expect(missingOptions(settings, parse(everything) as Mapping, '')).toEqual([]);
    expect(missingOptions(settings, {}, '')).toContain('learning');
  });
});

type Mapping = Record<string, unknown>;

/** Paths of the options that the blocks in `settings` know and `file` does not hold. */
function missingOptions(settings: object, file: Mapping, above: string): string[] {
  if (settings instanceof Map) {
    return [...(settings as Map<string, object>)].flatMap(([name, block]) =>
      missingOptions(block, file[name] as Mapping, `${above}${name}.`),
    );
  }
  return optionsOf(settings.constructor as new () => object).flatMap((option) => {
    const value = (settings as Mapping)[option];
    if (!(option in file)) return [`${above}${option}`];
    return typeof value === 'object' && value !== null && option !== 'organization'
      ? missingOptions(value, file[option] as Mapping, `${above}${option}.`)
      : [];
  });
}
