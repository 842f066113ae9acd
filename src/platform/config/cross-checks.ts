import type { ConfigProblem } from './config-error.js';
import { type Environment, isLoopback } from './environment.js';
import { LlmProviderSettings } from './service-settings.js';
import type { Access, Settings } from './settings.js';

/** Variables of the service itself, which no organisation's document may name. */
const OWN_SECRETS: readonly string[] = ['ADMIN_API_KEY', 'DATABASE_URL'];

/** True where nothing is known to be wrong with the option at `path`, with a block above it, or with one below it. */
type Sound = (path: string) => boolean;

/**
 * What is wrong between options, and between options and the environment. `known` are the problems found so far; an
 * option among them is not judged again.
 */
export function crossProblems(settings: Settings, known: readonly ConfigProblem[]): ConfigProblem[] {
  const sound: Sound = (path) =>
    !known.some((problem) => `${problem.path}.`.startsWith(`${path}.`) || `${path}.`.startsWith(`${problem.path}.`));
  return [
    ...environmentProblems(settings.environment, sound),
    ...llmProblems(settings, sound),
    ...embeddingsProblems(settings, sound),
    ...knowledgeProblems(settings, sound),
    ...toolSkillProblems(settings, sound),
    ...secretEnvProblems(settings, sound),
    ...curatorProblems(settings, sound),
  ];
}

function environmentProblems(environment: Environment, sound: Sound): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const { host, admin_api_key, confluence_username, confluence_api_token, confluence_personal_token } = environment;
  if (sound('HOST') && admin_api_key === undefined && !isLoopback(host)) {
    problems.push({ path: 'HOST', message: 'must be a loopback address as long as ADMIN_API_KEY is not set' });
  }
  if ((confluence_username === undefined) !== (confluence_api_token === undefined)) {
    const path = confluence_username === undefined ? 'CONFLUENCE_USERNAME' : 'CONFLUENCE_API_TOKEN';
    problems.push({ path, message: 'must be set: CONFLUENCE_USERNAME and CONFLUENCE_API_TOKEN go together' });
  }
  if (confluence_personal_token !== undefined && confluence_api_token !== undefined) {
    problems.push({ path: 'CONFLUENCE_PERSONAL_TOKEN', message: 'must not be set beside CONFLUENCE_API_TOKEN' });
  }
  return problems;
}

function llmProblems(settings: Settings, sound: Sound): ConfigProblem[] {
  const providers = settings.llm?.providers;
  return [...(providers instanceof Map ? providers : [])].flatMap(([name, provider]) => {
    const path = `llm.providers.${name}`;
    if (!(provider instanceof LlmProviderSettings) || !sound(`${path}.kind`)) return [];
    const shared = provider.kind === 'anthropic' ? 'ANTHROPIC_API_KEY' : 'OPENAI_API_KEY';
    return accessProblems(path, shared, provider.api_key_env, settings.llmAccess(provider), sound);
  });
}

function embeddingsProblems(settings: Settings, sound: Sound): ConfigProblem[] {
  const { embeddings } = settings;
  if (embeddings?.provider !== 'openai_compatible') return [];
  const problems: ConfigProblem[] = [];
  if (embeddings.model === undefined) {
    problems.push({ path: 'embeddings.model', message: 'must be set with openai_compatible' });
  }
  const access = settings.embeddingsAccess();
  return [...problems, ...accessProblems('embeddings', 'OPENAI_API_KEY', embeddings.api_key_env, access, sound)];
}

function accessProblems(
  path: string,
  shared: string,
  keyEnv: string | undefined,
  access: Access,
  sound: Sound,
): ConfigProblem[] {
  if (access.api_key !== undefined || !sound(`${path}.api_key_env`)) return [];
  if (keyEnv !== undefined) {
    return [{ path: `${path}.api_key_env`, message: `names the environment variable ${keyEnv}, which is not set` }];
  }
  if (access.base_url !== undefined) return [];
  return [{ path, message: `needs a key: set ${shared} or api_key_env, or a base_url that asks for none` }];
}

function knowledgeProblems({ knowledge, environment }: Settings, sound: Sound): ConfigProblem[] {
  if (!sound('knowledge.backend') || knowledge.backend === 'none') return [];
  const needed =
    knowledge.backend === 'confluence'
      ? { CONFLUENCE_BASE_URL: environment.confluence_base_url }
      : { PLANE_BASE_URL: environment.plane_base_url, PLANE_WORKSPACE: environment.plane_workspace };
  return Object.entries(needed)
    .filter(([, value]) => value === undefined)
    .map(([path]) => ({ path, message: `must be set with knowledge.backend: ${knowledge.backend}` }));
}

function toolSkillProblems({ tool_skills, environment }: Settings, sound: Sound): ConfigProblem[] {
  if (!sound('tool_skills.confluence') || !sound('tool_skills.plane')) return [];
  const problems: ConfigProblem[] = [];
  const { confluence_base_url, confluence_api_token, confluence_personal_token } = environment;
  const confluenceToken = confluence_api_token ?? confluence_personal_token;
  if (tool_skills.confluence && (confluence_base_url === undefined || confluenceToken === undefined)) {
    const message = 'needs CONFLUENCE_BASE_URL and CONFLUENCE_API_TOKEN or CONFLUENCE_PERSONAL_TOKEN';
    problems.push({ path: 'tool_skills.confluence', message });
  }
  const { plane_base_url, plane_workspace, plane_api_key } = environment;
  if (tool_skills.plane && [plane_base_url, plane_workspace, plane_api_key].includes(undefined)) {
    const message = 'needs PLANE_BASE_URL, PLANE_WORKSPACE and PLANE_API_KEY';
    problems.push({ path: 'tool_skills.plane', message });
  }
  return problems;
}

function secretEnvProblems({ secret_env }: Settings, sound: Sound): ConfigProblem[] {
  if (!sound('secret_env')) return [];
  return Object.entries(secret_env).flatMap(([organization, names]) =>
    names
      .filter((name) => OWN_SECRETS.includes(name))
      .map((name) => ({
        path: `secret_env.${organization}`,
        message: `must not list ${name}, which is the service's own`,
      })),
  );
}

function curatorProblems({ learning }: Settings, sound: Sound): ConfigProblem[] {
  if (!sound('learning.skill_curator')) return [];
  const { stale_after_days, archive_after_days } = learning.skill_curator;
  if (archive_after_days >= stale_after_days) return [];
  const message = `must not be below stale_after_days (${stale_after_days})`;
  return [{ path: 'learning.skill_curator.archive_after_days', message }];
}
