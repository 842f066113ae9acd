import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import type { ConfluenceClient } from '../knowledge/confluence.client.js';
import { KnowledgeClients } from '../knowledge/knowledge-clients.js';
import type { PlaneClient } from '../knowledge/plane.client.js';
import { VendorError } from '../knowledge/vendor-http.js';
import { skillFileOf } from './page-markdown.js';
import type { PagePlace, SkillPage } from './page-skills.models.js';
import { MAX_SKILLS } from './tool-skill.models.js';

export interface ReadablePlace extends PagePlace {
  /** All pages directly below the place's page. @throws Error that says in words what could not be read */
  read(signal: AbortSignal): Promise<SkillPage[]>;
}

/** The places of learning.yaml that hold tool skills: `tool_skills.confluence` and `tool_skills.plane`. */
@Injectable()
export class SkillPagePlaces {
  /** In the order in which they hold. */
  readonly all: readonly ReadablePlace[];

  constructor(settings: Settings, clients: KnowledgeClients) {
    const { confluence, plane } = settings.tool_skills;
    // With the credentials of the environment: the boot check has seen to it that they are there.
    this.all = [
      ...(confluence ? [confluencePlace(confluence, clients.confluence!)] : []),
      ...(plane ? [planePlace(plane, clients.plane!)] : []),
    ];
  }
}

function confluencePlace(at: { space: string; parent: string }, client: ConfluenceClient): ReadablePlace {
  return {
    source: 'confluence',
    place: JSON.stringify([at.space, at.parent]),
    async read(signal) {
      const [parent] = await client.pagesByTitle({ spaceKey: at.space, title: at.parent, signal });
      if (!parent) throw new Error(`there is no page "${at.parent}" in space ${at.space}`);
      const pages = await client.childPages({ pageId: parent.id, signal });
      return pages.map(({ id, body }) => ({ id, text: skillFileOf(body) }));
    },
  };
}

function planePlace(at: { project: string; parent: string }, client: PlaneClient): ReadablePlace {
  const isNamed = (title: string, name: string): boolean => title.trim().toLowerCase() === name.trim().toLowerCase();
  return {
    source: 'plane',
    place: JSON.stringify([at.project, at.parent]),
    async read(signal) {
      const projects = await client.projects({ signal });
      const project = projects.find(({ id, identifier }) => id === at.project || isNamed(identifier, at.project));
      if (!project) throw new Error(`there is no project ${at.project}, or the key is no member of it`);
      const pages = await client.pages({ projectId: project.id, signal });
      const parents = pages.filter(({ title }) => isNamed(title, at.parent)).map(({ id }) => id);
      if (parents.length === 0) throw new Error(`there is no page "${at.parent}" in project ${at.project}`);
      const below = pages.filter(({ parentId }) => parentId !== null && parents.includes(parentId));
      const read: SkillPage[] = [];
      // one after another: the server allows few requests a minute
      for (const { id } of below.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, MAX_SKILLS)) {
        const body = await planeBody(client, { projectId: project.id, pageId: id, signal });
        if (body !== null) read.push({ id, text: skillFileOf(body) });
      }
      return read;
    },
  };
}

/** Null where the page is gone since it was listed. */
async function planeBody(
  client: PlaneClient,
  page: { projectId: string; pageId: string; signal: AbortSignal },
): Promise<string | null> {
  try {
    return (await client.page(page)).body;
  } catch (error) {
    if (error instanceof VendorError && error.status === 404) return null;
    throw error;
  }
}
