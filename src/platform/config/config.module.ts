import { type DynamicModule, Module } from '@nestjs/common';
import { Settings } from './settings.js';

/** Hands the checked settings to every module. */
@Module({})
export class ConfigModule {
  static forRoot(settings: Settings): DynamicModule {
    return {
      module: ConfigModule,
      global: true,
      providers: [{ provide: Settings, useValue: settings }],
      exports: [Settings],
    };
  }
}
