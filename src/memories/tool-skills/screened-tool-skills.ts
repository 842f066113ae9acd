import { Injectable, type OnModuleInit } from '@nestjs/common';
import { QuarantineStore } from '../../core/screening/quarantine.store.js';
import { QuarantinedWrites } from '../../core/screening/quarantined-writes.js';
import { Screening } from '../../core/screening/screening.js';
import type { HeldWrite, QuarantinedWrite } from '../../core/turn/extension-points.js';
import { OperatorSkills } from './operator-skills.js';
import { NO_AGENT, type SourcedSkill, type ToolSkill } from './tool-skill.models.js';

export type PutResult =
  { status: 'written'; skill: SourcedSkill } | { status: 'quarantined'; quarantineId: string; reason: string };

/** The write boundary of operators' tool skills: what is flagged in them waits in quarantine. */
@Injectable()
export class ScreenedToolSkills implements QuarantinedWrite, OnModuleInit {
  readonly kind = 'tool_skill';

  constructor(
    private readonly skills: OperatorSkills,
    private readonly screening: Screening,
    private readonly quarantine: QuarantineStore,
    private readonly held: QuarantinedWrites,
  ) {}

  onModuleInit(): void {
    this.held.register(this);
  }

  async put(orgId: string, skill: ToolSkill): Promise<PutResult> {
    const verdict = this.screening.checkProcedure(skill.title, skill.summary, skill.body);
    if (!verdict.flagged) {
      return { status: 'written', skill: await this.skills.put(orgId, skill, { released: false }) };
    }
    const quarantineId = await this.quarantine.hold({
      orgId,
      agentId: NO_AGENT,
      turnId: null,
      kind: this.kind,
      reason: verdict.reason,
      content: `${skill.key}: ${skill.title}\n${skill.summary}\n\n${skill.body}`,
      payload: skill,
    });
    return { status: 'quarantined', quarantineId, reason: verdict.reason };
  }

  async apply({ orgId, payload }: HeldWrite): Promise<void> {
    await this.skills.put(orgId, payload as ToolSkill, { released: true });
  }
}
