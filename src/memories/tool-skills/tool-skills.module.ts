import { Module } from '@nestjs/common';
import { PersonalDataModule } from '../../core/personal-data/personal-data.module.js';
import { ScreeningModule } from '../../core/screening/screening.module.js';
import { JobsModule } from '../../platform/jobs/jobs.module.js';
import { KnowledgeModule } from '../knowledge/knowledge.module.js';
import { LoadToolSkillTool } from './load-tool-skill.tool.js';
import { OperatorSkills } from './operator-skills.js';
import { PageSkills } from './page-skills.js';
import { RefreshToolSkillsJob } from './refresh-tool-skills.job.js';
import { ReleasedPages } from './released-pages.js';
import { ScreenedToolSkills } from './screened-tool-skills.js';
import { SkillDirectory } from './skill-directory.js';
import { SkillPagePlaces } from './skill-page-places.js';
import { ToolSkillsBlock } from './tool-skills.block.js';
import { ToolSkillsController } from './tool-skills.controller.js';
import { ToolSkills } from './tool-skills.js';
import { ToolSkillPersonalData } from './tool-skill.personal-data.js';

@Module({
  imports: [PersonalDataModule, JobsModule, KnowledgeModule, ScreeningModule],
  controllers: [ToolSkillsController],
  providers: [
    ToolSkillPersonalData,
    LoadToolSkillTool,
    OperatorSkills,
    PageSkills,
    RefreshToolSkillsJob,
    ReleasedPages,
    ScreenedToolSkills,
    SkillDirectory,
    SkillPagePlaces,
    ToolSkills,
    ToolSkillsBlock,
  ],
  exports: [LoadToolSkillTool, ToolSkillsBlock],
})
export class ToolSkillsModule {}
