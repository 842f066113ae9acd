import { Module } from '@nestjs/common';
import { EpisodesModule } from '../episodes/episodes.module.js';
import { SynthesizedSkillStore } from './synthesized-skill.store.js';

@Module({
  imports: [EpisodesModule],
  providers: [SynthesizedSkillStore],
  exports: [SynthesizedSkillStore],
})
export class SkillsModule {}
