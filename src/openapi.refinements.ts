import type { OpenAPIObject } from '@nestjs/swagger';
import { getMetadataStorage } from 'class-validator';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Parameter = Exclude<NonNullable<Operation['parameters']>[number], { $ref: string }>;
type DtoClass = new () => Record<string, unknown>;

interface Rules {
  /** Whole numbers; the framework calls every number `number`. */
  integers: Set<string>;
  /** What may be left out: it has a default, or is only judged where it is there. */
  optional: Set<string>;
}

/** Brings to the document what the validators of the DTO classes know and the framework does not read off them. */
export function refineNumbersAndDefaults(document: OpenAPIObject): void {
  const integers = new Set<string>();
  for (const dto of dtoClasses()) {
    const rules = rulesOf(dto);
    rules.integers.forEach((name) => integers.add(name));
    const schema = document.components?.schemas?.[dto.name];
    if (!schema || '$ref' in schema) continue;
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      if (rules.integers.has(name) && 'type' in property) property.type = 'integer';
    }
    const required = schema.required?.filter((name) => !rules.optional.has(name)) ?? [];
    if (required.length > 0) schema.required = required;
    else delete schema.required;
  }
  for (const parameter of queryParameters(document)) {
    const { schema } = parameter;
    if (!schema || '$ref' in schema) continue;
    if (schema.type === 'number' && integers.has(parameter.name)) schema.type = 'integer';
    if (schema.default !== undefined) parameter.required = false;
  }
}

/** class-validator has no public list of the classes that it judges. */
function dtoClasses(): DtoClass[] {
  const storage = getMetadataStorage() as unknown as { validationMetadatas: Map<DtoClass | string, unknown> };
  return [...storage.validationMetadatas.keys()].filter((target) => typeof target === 'function');
}

function rulesOf(dto: DtoClass): Rules {
  const metadatas = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  const named = (hit: (metadata: (typeof metadatas)[number]) => boolean): string[] =>
    metadatas.filter(hit).map(({ propertyName }) => propertyName);
  const defaults = Object.entries(new dto()).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  return {
    integers: new Set(named(({ name }) => name === 'isInt')),
    optional: new Set([...defaults, ...named(({ type }) => type === 'conditionalValidation')]),
  };
}

function queryParameters(document: OpenAPIObject): Parameter[] {
  return Object.values(document.paths).flatMap((item) =>
    [item.get, item.put, item.post, item.delete, item.patch].flatMap((operation) =>
      (operation?.parameters ?? []).flatMap((parameter) =>
        'in' in parameter && parameter.in === 'query' ? [parameter] : [],
      ),
    ),
  );
}
