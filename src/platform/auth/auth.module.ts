import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { Settings } from '../config/settings.js';
import { ApiKeyStore } from './api-key.store.js';
import { Authenticator } from './authenticator.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { ScopeGuard } from './scope.guard.js';

@Module({
  imports: [
    ThrottlerModule.forRootAsync({
      inject: [Settings],
      useFactory: (settings: Settings) => [{ ttl: 60_000, limit: settings.rate_limit.requests_per_minute }],
    }),
  ],
  providers: [
    ApiKeyStore,
    Authenticator,
    { provide: APP_GUARD, useClass: RateLimitGuard },
    { provide: APP_GUARD, useClass: ScopeGuard },
  ],
  exports: [ApiKeyStore, Authenticator],
})
export class AuthModule {}
