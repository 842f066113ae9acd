import type { EntityClass } from './platform/database/data-source.js';
import { LlmUsageEntity } from './core/auxiliary/llm-usage.entity.js';
import { AgentEntity } from './core/organization/agent.entity.js';
import { ExecutionSlotEntity } from './core/organization/execution-slot.entity.js';
import { ExecutionSlotWaitEntity } from './core/organization/execution-slot-wait.entity.js';
import { OrganizationEntity } from './core/organization/organization.entity.js';
import { PersonEntity } from './core/organization/person.entity.js';
import { RoleEntity } from './core/organization/role.entity.js';
import { UnitEntity } from './core/organization/unit.entity.js';
import { QuarantinedWriteEntity } from './core/screening/quarantined-write.entity.js';
import { TurnEntity } from './core/turn/turn.entity.js';
import { TurnSubjectEntity } from './core/turn/turn-subject.entity.js';
import { DiaryEntryEntity } from './memories/diary/diary-entry.entity.js';
import { DocRecommendationEntity } from './memories/diary/doc-recommendation.entity.js';
import { MemoryRefreshEntity } from './memories/diary/memory-refresh.entity.js';
import { EpisodeEntity } from './memories/episodes/episode.entity.js';
import { ApiKeyEntity } from './platform/auth/api-key.entity.js';
import { AuditEntryEntity } from './platform/auth/audit-entry.entity.js';
import { StreamTicketEntity } from './platform/auth/stream-ticket.entity.js';
import { JobWorkerHeartbeatEntity } from './platform/jobs/job-worker-heartbeat.entity.js';
import { PlanContextEntity } from './processes/planning/plan-context.entity.js';
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
  QuarantinedWriteEntity,
  TurnEntity,
  TurnSubjectEntity,
  DiaryEntryEntity,
  DocRecommendationEntity,
  MemoryRefreshEntity,
  EpisodeEntity,
  ApiKeyEntity,
  JobWorkerHeartbeatEntity,
  PlanContextEntity,
  ReflectionRunEntity,
  AuditEntryEntity,
  StreamTicketEntity,
  LearningEventEntity,
];
