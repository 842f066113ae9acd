import { plainToInstance, Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateNested,
  validateSync,
} from 'class-validator';
import type { FieldProblem } from '../../platform/http/api-error.js';
import { fieldProblems, validationOptions } from '../../platform/http/validation.pipe.js';
import { IsHandle } from './handle.js';
import { organizationProblems } from './organization.rules.js';

const MAX_TOKENS = Number.MAX_SAFE_INTEGER;
const EnvironmentName = (): PropertyDecorator => Matches(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/);
const asList = ({ value }: { value: unknown }): unknown => (typeof value === 'string' ? [value] : (value ?? []));

export class KnowledgeScopeDocument {
  /** Confluence space keys that every agent may search. */
  @IsArray()
  @IsString({ each: true })
  @Length(1, 200, { each: true })
  confluence_spaces: string[] = [];

  /** Plane project identifiers that every agent may search. */
  @IsArray()
  @IsString({ each: true })
  @Length(1, 200, { each: true })
  plane_projects: string[] = [];
}

export class RoleDocument {
  @IsString()
  @Length(1, 200)
  name: string;

  /** False opts the role out of reflection; null inherits `learning.enabled`. */
  @IsOptional()
  @IsBoolean()
  learning_enabled: boolean | null = null;

  /** The role's main providers, by their names in learning.yaml: a name or a list. */
  @Transform(asList)
  @IsArray()
  @ArrayMaxSize(20)
  @IsString({ each: true })
  llm: string[] = [];

  /** The chain of providers for learning's own calls: a name or a list; empty uses `llm`, else `default`. */
  @Transform(asList)
  @IsArray()
  @ArrayMaxSize(20)
  @IsString({ each: true })
  llm_auxiliary: string[] = [];

  /** Turns and reflections of this role that may run at once; null is no limit of the role. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100_000)
  max_concurrent: number | null = null;
}

export class UnitDocument {
  @IsString()
  @Length(1, 200)
  name: string;

  /** The unit around this one. */
  @IsOptional()
  @IsString()
  parent: string | null = null;

  /** Handle of the agent or person who leads it. */
  @IsOptional()
  @IsString()
  lead: string | null = null;

  @IsOptional()
  @IsString()
  @Length(1, 200)
  confluence_space: string | null = null;

  @IsOptional()
  @IsString()
  @Length(1, 200)
  plane_project: string | null = null;
}

export class ConfluenceCredentialsDocument {
  @IsOptional()
  @EnvironmentName()
  username_env?: string;

  @IsOptional()
  @EnvironmentName()
  api_token_env?: string;

  @IsOptional()
  @EnvironmentName()
  personal_token_env?: string;
}

export class PlaneCredentialsDocument {
  @EnvironmentName()
  api_key_env: string;
}

/** Secrets are named by environment variable, never stored. */
export class CredentialsDocument {
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ConfluenceCredentialsDocument)
  confluence?: ConfluenceCredentialsDocument;

  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => PlaneCredentialsDocument)
  plane?: PlaneCredentialsDocument;
}

export class AgentDocument {
  @IsHandle()
  handle: string;

  @IsString()
  role: string;

  @IsOptional()
  @IsString()
  unit: string | null = null;

  /** Tokens per UTC day; null is no limit. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(MAX_TOKENS)
  daily_token_budget: number | null = null;

  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => CredentialsDocument)
  credentials: CredentialsDocument | null = null;
}

export class IdentityDocument {
  @IsString()
  @Length(1, 100)
  platform: string;

  @IsString()
  @Length(1, 500)
  external_id: string;
}

export class PersonDocument {
  @IsHandle()
  handle: string;

  @IsOptional()
  @IsString()
  @Length(1, 500)
  display_name: string | null = null;

  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => IdentityDocument)
  identities: IdentityDocument[] = [];
}

/** What `PUT /organization` takes and what seeds an organisation from learning.yaml. */
export class OrganizationDocument {
  @IsString()
  @Length(1, 200)
  name: string;

  /** Whether a turn of an unknown agent registers it, and its role. */
  @IsBoolean()
  auto_register: boolean = true;

  /** Tokens per UTC day for the whole organisation; null is no limit. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(MAX_TOKENS)
  daily_token_budget: number | null = null;

  @IsObject()
  @ValidateNested()
  @Type(() => KnowledgeScopeDocument)
  knowledge: KnowledgeScopeDocument = new KnowledgeScopeDocument();

  @IsArray()
  @ArrayMaxSize(10_000)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => RoleDocument)
  roles: RoleDocument[] = [];

  @IsArray()
  @ArrayMaxSize(10_000)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => UnitDocument)
  units: UnitDocument[] = [];

  @IsArray()
  @ArrayMaxSize(10_000)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => AgentDocument)
  agents: AgentDocument[] = [];

  @IsArray()
  @ArrayMaxSize(10_000)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => PersonDocument)
  people: PersonDocument[] = [];
}

/** Reads a document of unknown shape; either the document or every problem of it, form and meaning. */
export function readOrganizationDocument(
  value: unknown,
): { document: OrganizationDocument; problems: [] } | { document: null; problems: FieldProblem[] } {
  const document = plainToInstance(OrganizationDocument, value ?? {});
  if (!(document instanceof OrganizationDocument)) {
    return { document: null, problems: [{ path: 'organization', message: 'must be an object' }] };
  }
  const form = fieldProblems(validateSync(document, validationOptions));
  const problems = form.length > 0 ? form : organizationProblems(document);
  return problems.length > 0 ? { document: null, problems } : { document, problems: [] };
}

/** For the boot check of learning.yaml's `organization` block. */
export const organizationValidator = {
  block: 'organization' as const,
  problems: (value: unknown): FieldProblem[] => (value == null ? [] : readOrganizationDocument(value).problems),
};
