import { v5 as uuidV5 } from 'uuid';

/** The namespace of this service's name-based ids (RFC 9562, version 5); changing it would orphan every row. */
const NAMESPACE = '3f0a8f0e-6f6b-5a53-9c43-5d1f6d1a7e10';

/** An organisation keeps the id of the name that it was first given. */
export function organizationId(name: string): string {
  return uuidV5(`organization\n${name}`, NAMESPACE);
}

/** Agents are found by the same id on every replica and after an import. */
export function agentId(orgId: string, handle: string): string {
  return uuidV5(`agent\n${orgId}\n${handle}`, NAMESPACE);
}
