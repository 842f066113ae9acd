import { Module } from '@nestjs/common';
import { PersonalDataModule } from '../../core/personal-data/personal-data.module.js';
import { AuxiliaryModule } from '../../core/auxiliary/auxiliary.module.js';
import { OrganizationModule } from '../../core/organization/organization.module.js';
import { ScreeningModule } from '../../core/screening/screening.module.js';
import { EpisodesModule } from '../episodes/episodes.module.js';
import { RefineSkillTool } from './refine-skill.tool.js';
import { ScreenedSkills } from './screened-skills.js';
import { SkillHistory } from './skill.history.js';
import { SkillReader } from './skill.reader.js';
import { SkillRefiner } from './skill-refiner.js';
import { SkillStates } from './skill.states.js';
import { SkillWriter } from './skill-writer.js';
import { SkillsController } from './skills.controller.js';
import { SkillsEditor } from './skills.editor.js';
import { SynthesizedSkillStore } from './synthesized-skill.store.js';
import { SynthesizedSkillsBlock } from './synthesized-skills.block.js';
import { UseSkillTool } from './use-skill.tool.js';
import { SkillImports } from './skill-imports.js';
import { SkillPersonalData } from './skill.personal-data.js';

@Module({
  imports: [PersonalDataModule, AuxiliaryModule, EpisodesModule, OrganizationModule, ScreeningModule],
  controllers: [SkillsController],
  providers: [
    SkillImports,
    SkillPersonalData,
    RefineSkillTool,
    ScreenedSkills,
    SkillHistory,
    SkillReader,
    SkillRefiner,
    SkillStates,
    SkillWriter,
    SkillsEditor,
    SynthesizedSkillStore,
    SynthesizedSkillsBlock,
    UseSkillTool,
  ],
  exports: [RefineSkillTool, SkillReader, SkillRefiner, SynthesizedSkillStore, SynthesizedSkillsBlock, UseSkillTool],
})
export class SkillsModule {}
