import type { EntityClass } from './platform/database/data-source.js';
import { LlmUsageEntity } from './core/auxiliary/llm-usage.entity.js';
import { AgentEntity } from './core/organization/agent.entity.js';
import { ExecutionSlotEntity } from './core/organization/execution-slot.entity.js';
import { ExecutionSlotWaitEntity } from './core/organization/execution-slot-wait.entity.js';
import { OrganizationEntity } from './core/organization/organization.entity.js';
import { PersonEntity } from './core/organization/person.entity.js';
import { RoleEntity } from './core/organization/role.entity.js';
import { UnitEntity } from './core/organization/unit.entity.js';
import { ErasureEntity } from './core/personal-data/erasure.entity.js';
import { QuarantinedWriteEntity } from './core/screening/quarantined-write.entity.js';
import { TurnEntity } from './core/turn/turn.entity.js';
import { TurnSubjectEntity } from './core/turn/turn-subject.entity.js';
import { CounterpartyIdentityEntity } from './memories/counterparties/counterparty-identity.entity.js';
import { CounterpartyInteractionEntity } from './memories/counterparties/counterparty-interaction.entity.js';
import { CounterpartyObservationEntity } from './memories/counterparties/counterparty-observation.entity.js';
import { CounterpartyProfileEntity } from './memories/counterparties/counterparty-profile.entity.js';
import { DiaryEntryEntity } from './memories/diary/diary-entry.entity.js';
import { DocRecommendationEntity } from './memories/diary/doc-recommendation.entity.js';
import { MemoryRefreshEntity } from './memories/diary/memory-refresh.entity.js';
import { EpisodeEntity } from './memories/episodes/episode.entity.js';
import { OnboardingMarkerEntity } from './memories/onboarding/onboarding-marker.entity.js';
import { ToolSkillEntity } from './memories/tool-skills/tool-skill.entity.js';
import { ToolSkillPageEntity } from './memories/tool-skills/tool-skill-page.entity.js';
import { SkillClusterVerdictEntity } from './memories/skills/skill-cluster-verdict.entity.js';
import { SynthesizedSkillEntity } from './memories/skills/synthesized-skill.entity.js';
import { SynthesizedSkillVersionEntity } from './memories/skills/synthesized-skill-version.entity.js';
import { ApiKeyEntity } from './platform/auth/api-key.entity.js';
import { AuditEntryEntity } from './platform/auth/audit-entry.entity.js';
import { StreamTicketEntity } from './platform/auth/stream-ticket.entity.js';
import { JobWorkerHeartbeatEntity } from './platform/jobs/job-worker-heartbeat.entity.js';
import { ExecuteContextEntity } from './processes/planning/execute-context.entity.js';
import { CompactionPassEntity } from './processes/lifecycle/compaction-pass.entity.js';
import { PlanContextEntity } from './processes/planning/plan-context.entity.js';
import { PromotionEntity } from './processes/promotion/promotion.entity.js';
import { ReflectionRunEntity } from './processes/reflection/reflection-run.entity.js';
import { LearningEventEntity } from './views/telemetry/learning-event.entity.js';

/** The TypeORM classes of all tables that the migrations make. */
export const entities: readonly EntityClass[] = [
  LlmUsageEntity,
  AgentEntity,
  ExecutionSlotEntity,
  ExecutionSlotWaitEntity,
  OrganizationEntity,
  PersonEntity,
  RoleEntity,
  UnitEntity,
  ErasureEntity,
  QuarantinedWriteEntity,
  TurnEntity,
  TurnSubjectEntity,
  CounterpartyIdentityEntity,
  CounterpartyInteractionEntity,
  CounterpartyObservationEntity,
  CounterpartyProfileEntity,
  DiaryEntryEntity,
  DocRecommendationEntity,
  MemoryRefreshEntity,
  EpisodeEntity,
  OnboardingMarkerEntity,
  ToolSkillEntity,
  ToolSkillPageEntity,
  SkillClusterVerdictEntity,
  SynthesizedSkillEntity,
  SynthesizedSkillVersionEntity,
  ApiKeyEntity,
  JobWorkerHeartbeatEntity,
  ExecuteContextEntity,
  CompactionPassEntity,
  PlanContextEntity,
  PromotionEntity,
  ReflectionRunEntity,
  AuditEntryEntity,
  StreamTicketEntity,
  LearningEventEntity,
];
