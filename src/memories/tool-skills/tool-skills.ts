import { Injectable } from '@nestjs/common';
import { OperatorSkills } from './operator-skills.js';
import { PageSkills } from './page-skills.js';
import { SkillDirectory } from './skill-directory.js';
import { SkillPagePlaces } from './skill-page-places.js';
import { byKey, type SourcedSkill } from './tool-skill.models.js';

/** The registry of tool skills (mission, "Prompt scaffolding"): what operators wrote, then pages, then files. */
@Injectable()
export class ToolSkills {
  constructor(
    private readonly places: SkillPagePlaces,
    private readonly operators: OperatorSkills,
    private readonly pages: PageSkills,
    private readonly directory: SkillDirectory,
  ) {}

  /** The skills in force in an organisation, one a key, in the order of their keys. */
  async all(orgId: string): Promise<SourcedSkill[]> {
    const bySource = await Promise.all([
      this.operators.all(orgId),
      ...this.places.all.map((place) => this.pages.all(orgId, place)),
      this.directory.all(),
    ]);
    const inForce = new Map<string, SourcedSkill>();
    for (const skill of bySource.flat()) if (!inForce.has(skill.key)) inForce.set(skill.key, skill);
    return [...inForce.values()].sort(byKey);
  }

  async get(orgId: string, key: string): Promise<SourcedSkill | null> {
    return (await this.all(orgId)).find((skill) => skill.key === key) ?? null;
  }
}
