import { Logger, Module, type DynamicModule, type OnModuleDestroy } from '@nestjs/common';
import { OrganizationModule } from './core/organization/organization.module.js';
import { ScreeningModule } from './core/screening/screening.module.js';
import { entities } from './entities.js';
import { CounterpartiesModule } from './memories/counterparties/counterparties.module.js';
import { DiaryModule } from './memories/diary/diary.module.js';
import { EpisodesModule } from './memories/episodes/episodes.module.js';
import { KnowledgeModule } from './memories/knowledge/knowledge.module.js';
import { OnboardingModule } from './memories/onboarding/onboarding.module.js';
import { ToolSkillsModule } from './memories/tool-skills/tool-skills.module.js';
import { SkillSynthesisModule } from './memories/skills/skill-synthesis.module.js';
import { SkillsModule } from './memories/skills/skills.module.js';
import { AuthModule } from './platform/auth/auth.module.js';
import { ConfigModule } from './platform/config/config.module.js';
import type { Settings } from './platform/config/settings.js';
import { DatabaseModule } from './platform/database/database.module.js';
import { EmbeddingsModule } from './platform/embeddings/embeddings.module.js';
import { EventsModule } from './platform/events/events.module.js';
import { HttpModule } from './platform/http/http.module.js';
import { ShutdownSignal } from './platform/http/shutdown-signal.js';
import { JobsModule } from './platform/jobs/jobs.module.js';
import { IntakeModule } from './processes/intake/intake.module.js';
import { LifecycleModule } from './processes/lifecycle/lifecycle.module.js';
import { PlanningModule } from './processes/planning/planning.module.js';
import { PromotionModule } from './processes/promotion/promotion.module.js';
import { ReflectionModule } from './processes/reflection/reflection.module.js';
import { ToolsModule } from './processes/tools/tools.module.js';
import { AgentMemoryModule } from './views/agent-memory/agent-memory.module.js';
import { PersonalDataViewModule } from './views/personal-data/personal-data.module.js';
import { JobsViewModule } from './views/jobs/jobs-view.module.js';
import { LearningHealthModule } from './views/learning-health/learning-health.module.js';
import { TelemetryModule } from './views/telemetry/telemetry.module.js';
import { UsageModule } from './views/usage/usage.module.js';
import { HealthModule } from './views/health/health.module.js';

/** The whole composition, floor by floor. */
@Module({})
export class AppModule implements OnModuleDestroy {
  constructor(private readonly shutdown: ShutdownSignal) {}

  /** @param embeddedUrl an embedded database that somebody else started, for tests */
  static forRoot(settings: Settings, options: { embeddedUrl?: string } = {}): DynamicModule {
    const { database_url: databaseUrl, data_dir: dataDir } = settings.environment;
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(settings),
        DatabaseModule.forRoot({ databaseUrl, dataDir, entities, embeddedUrl: options.embeddedUrl }),
        EventsModule,
        HttpModule,
        JobsModule,
        AuthModule,
        EmbeddingsModule,

        OrganizationModule,
        ScreeningModule,

        CounterpartiesModule,
        DiaryModule,
        EpisodesModule,
        KnowledgeModule,
        OnboardingModule,
        ToolSkillsModule,
        SkillsModule,
        SkillSynthesisModule,

        IntakeModule,
        ReflectionModule,
        LifecycleModule,
        PromotionModule,
        PlanningModule,
        ToolsModule,

        AgentMemoryModule,
        HealthModule,
        JobsViewModule,
        LearningHealthModule,
        PersonalDataViewModule,
        TelemetryModule,
        UsageModule,
      ],
    };
  }
  /** The root is the first to hear of a shutdown; a global module, as that of the signal, would be the last. */
  onModuleDestroy(): void {
    this.shutdown.abort();
    new Logger('Stop').log('stopping');
  }
}
