import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ERASED } from '../../core/personal-data/name-pattern.js';
import { PersonalDataParts } from '../../core/personal-data/personal-data-parts.js';
import type { ErasureCounts, ErasureScope } from '../../core/personal-data/personal-data.models.js';
import type { PersonalTable, Row } from '../../core/personal-data/personal-table.js';
import { PersonalTables } from '../../core/personal-data/personal-tables.js';
import type { WriteBoundary } from '../../core/personal-data/table-transfer.js';
import { Database } from '../../platform/database/database.js';
import { EpisodeConsolidation } from '../episodes/episode-consolidation.js';
import { LIVE_SKILL } from './skill.models.js';
import { SkillImports } from './skill-imports.js';

const CHANGE_KINDS = ['created', 'observed_in_practice', 'counter_example', 'refine_skill_tool', 'replace', 'rollback'];

@Injectable()
export class SkillPersonalData extends PersonalTables implements OnModuleInit {
  constructor(
    store: Database,
    private readonly parts: PersonalDataParts,
    private readonly episodes: EpisodeConsolidation,
    imports: SkillImports,
  ) {
    super(store, [skills(store, imports), versions(imports), VERDICTS], {
      boundary: imports.boundary satisfies WriteBoundary,
    });
  }

  onModuleInit(): void {
    this.parts.register(this);
  }

  /** What an erased skill was drafted from may be learned from again. */
  override async erase(scope: ErasureScope): Promise<ErasureCounts> {
    const counts = await super.erase(scope);
    if ('subject' in scope && counts.synthesized_skills! > 0) await this.episodes.clearErased(scope.orgId);
    return counts;
  }
}

function skills(database: Database, imports: SkillImports): PersonalTable {
  return {
    name: 'synthesized_skills',
    key: { id: 'uuid' },
    origin: 'source_turn_ids',
    texts: ['name', 'description', 'content', 'version_note'],
    redact: (row) => withUsableName(database, row),
    exported: {
      type: 'skill',
      omit: ['org_id', 'agent_id'],
      textLists: ['tool_sequence'],
      idLists: ['source_episode_ids', 'source_turn_ids'],
      values: {
        origin: ['synthesized', 'operator', 'import'],
        trigger: ['single_turn', 'clustered'],
        state: ['active', 'stale', 'archived', 'rejected'],
        version_kind: CHANGE_KINDS,
      },
      screened: (row) => [row.name, row.description, row.content, row.version_note ?? ''] as string[],
      // A release elsewhere is no release here.
      stamp: (_row, { screened }) => ({ origin: 'import', operator_released: !screened }),
      admit: (row, context) => imports.admit(row, context),
    },
  };
}

function versions(imports: SkillImports): PersonalTable {
  return {
    name: 'synthesized_skill_versions',
    key: { id: 'uuid' },
    origin: 'source_turn_ids',
    texts: ['description', 'content', 'note'],
    exported: {
      type: 'skill_version',
      omit: ['org_id', 'agent_id'],
      textLists: ['tool_sequence'],
      idLists: ['source_episode_ids', 'source_turn_ids'],
      values: { kind: CHANGE_KINDS },
      screened: (row) => [row.description, row.content, row.note ?? ''] as string[],
      stamp: (_row, { screened }) => ({ operator_released: !screened }),
      admit: (row, context) => imports.admitVersion(row, context),
    },
  };
}

/** Negative memory: a cluster that was refused is not asked about again, here or elsewhere. */
const VERDICTS: PersonalTable = {
  name: 'skill_cluster_verdicts',
  key: { id: 'uuid' },
  origin: 'source_turn_ids',
  texts: ['reason'],
  exported: {
    type: 'skill_cluster_verdict',
    omit: ['org_id', 'agent_id'],
    textLists: ['tool_sequence'],
    idLists: ['member_episode_ids', 'source_turn_ids'],
  },
};

/** A name that held another keeps the form of a skill's name, and stays the only one of its agent. */
async function withUsableName(database: Database, row: Row): Promise<Row> {
  const name = row.name as string;
  if (!name.includes(ERASED)) return {};
  const usable = name.replaceAll(ERASED, 'erased').slice(0, 55);
  const [taken] = await database.query(
    `select 1 from synthesized_skills where org_id = $1 and agent_id = $2 and id <> $3 and name = $4 and ${LIVE_SKILL}`,
    [row.org_id, row.agent_id, row.id, usable],
  );
  return { name: taken ? `${usable.replace(/-+$/, '')}-${(row.id as string).slice(0, 8)}` : usable.replace(/-+$/, '') };
}
