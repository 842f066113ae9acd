import type { FieldProblem } from '../../platform/http/api-error.js';

/** What the rules look at of an organisation document. */
interface Members {
  roles: { name: string }[];
  units: { name: string; parent: string | null; lead: string | null }[];
  agents: { handle: string; role: string; unit: string | null }[];
  people: { handle: string; identities: { platform: string; external_id: string }[] }[];
}

/** What a well-formed document may still get wrong: names that nobody has, names that two have, cycles of units. */
export function organizationProblems(document: Members): FieldProblem[] {
  const roles = new Set(document.roles.map((role) => role.name));
  const units = new Map(document.units.map((unit) => [unit.name, unit]));
  const handles = new Set([...document.agents, ...document.people].map((member) => member.handle));
  return [
    ...duplicates(
      'roles',
      'name',
      document.roles.map((role) => role.name),
    ),
    ...duplicates(
      'units',
      'name',
      document.units.map((unit) => unit.name),
    ),
    ...duplicateHandles(document),
    ...duplicateIdentities(document),
    ...document.agents.flatMap((agent, index) => [
      ...missing(`agents.${index}.role`, 'role', agent.role, roles),
      ...missing(`agents.${index}.unit`, 'unit', agent.unit, units),
    ]),
    ...document.units.flatMap((unit, index) => [
      ...missing(`units.${index}.parent`, 'unit', unit.parent, units),
      ...missing(`units.${index}.lead`, 'agent or person', unit.lead, handles),
      ...(isInCycle(unit.name, units)
        ? [{ path: `units.${index}.parent`, message: `unit "${unit.name}" is its own ancestor` }]
        : []),
    ]),
  ];
}

function missing(
  path: string,
  kind: string,
  name: string | null,
  known: { has(name: string): boolean },
): FieldProblem[] {
  return name === null || known.has(name) ? [] : [{ path, message: `there is no ${kind} "${name}"` }];
}

function duplicates(list: string, field: string, names: string[]): FieldProblem[] {
  return names.flatMap((name, index) =>
    names.indexOf(name) < index ? [{ path: `${list}.${index}.${field}`, message: `"${name}" is already listed` }] : [],
  );
}

function duplicateHandles(document: Members): FieldProblem[] {
  const seen = new Set<string>();
  const problems: FieldProblem[] = [];
  for (const list of ['agents', 'people'] as const) {
    document[list].forEach((member, index) => {
      if (seen.has(member.handle)) {
        problems.push({ path: `${list}.${index}.handle`, message: `handle "${member.handle}" is already taken` });
      }
      seen.add(member.handle);
    });
  }
  return problems;
}

function duplicateIdentities(document: Members): FieldProblem[] {
  const seen = new Set<string>();
  return document.people.flatMap((person, index) =>
    person.identities.flatMap((identity, position) => {
      const key = JSON.stringify([identity.platform, identity.external_id]);
      const taken = seen.has(key);
      seen.add(key);
      const message = `identity ${identity.platform}:${identity.external_id} is already taken`;
      return taken ? [{ path: `people.${index}.identities.${position}`, message }] : [];
    }),
  );
}

function isInCycle(start: string, units: ReadonlyMap<string, { parent: string | null }>): boolean {
  const seen = new Set<string>();
  for (let name = units.get(start)?.parent ?? null; name !== null; name = units.get(name)?.parent ?? null) {
    if (name === start) return true;
    if (seen.has(name)) return false;
    seen.add(name);
  }
  return false;
}
