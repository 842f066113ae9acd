import { Module } from '@nestjs/common';
import { PersonalDataModule } from '../../core/personal-data/personal-data.module.js';
import { AuxiliaryModule } from '../../core/auxiliary/auxiliary.module.js';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import type { ReflectionWorker } from '../../core/turn/extension-points.js';
import { TurnModule } from '../../core/turn/turn.module.js';
import { CounterpartiesModule } from '../../memories/counterparties/counterparties.module.js';
import { CounterpartyProfiler } from '../../memories/counterparties/counterparty-profiler.js';
import { DiaryModule } from '../../memories/diary/diary.module.js';
import { PersistDecider } from '../../memories/diary/persist-decider.js';
import { SingleTurnSynthesis } from '../../memories/skills/single-turn-synthesis.js';
import { SkillRefiner } from '../../memories/skills/skill-refiner.js';
import { SkillSynthesisModule } from '../../memories/skills/skill-synthesis.module.js';
import { SkillsModule } from '../../memories/skills/skills.module.js';
import { JobsModule } from '../../platform/jobs/jobs.module.js';
import { PlanContextsModule } from '../planning/plan-contexts.module.js';
import { OpenTurn } from './open-turn.js';
import { ReflectEngine } from './reflect-engine.js';
import { ReflectTurnJob } from './reflect-turn.job.js';
import { ReflectionGates } from './reflection.gates.js';
import { ReflectionInputs } from './reflection-inputs.js';
import { ReflectionLedger } from './reflection.ledger.js';
import { ReflectionQueue } from './reflection.queue.js';
import { ReflectionWorkers } from './reflection-workers.js';
import { WorkerPass } from './worker-pass.js';
import { ReflectionPersonalData } from './reflection.personal-data.js';

@Module({
  imports: [
    PersonalDataModule,
    AuxiliaryModule,
    CounterpartiesModule,
    DiaryModule,
    JobsModule,
    OrganizationModule,
    PlanContextsModule,
    SkillSynthesisModule,
    SkillsModule,
    TurnModule,
  ],
  providers: [
    ReflectionPersonalData,
    OpenTurn,
    ReflectEngine,
    ReflectTurnJob,
    ReflectionGates,
    ReflectionInputs,
    ReflectionLedger,
    ReflectionQueue,
    WorkerPass,
    {
      provide: ReflectionWorkers,
      inject: [PersistDecider, CounterpartyProfiler, SingleTurnSynthesis, SkillRefiner],
      useFactory: (...workers: ReflectionWorker[]) => new ReflectionWorkers(workers),
    },
  ],
  exports: [ReflectionLedger, ReflectionQueue],
})
export class ReflectionModule {}
