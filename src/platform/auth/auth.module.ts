import { Module } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { Settings } from '../config/settings.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { ApiKeyUses } from './api-key-uses.js';
import { ApiKeyStore } from './api-key.store.js';
import { AuditInterceptor } from './audit.interceptor.js';
import { AuditTrail } from './audit-trail.js';
import { Authenticator } from './authenticator.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { ScopeGuard } from './scope.guard.js';
import { StreamTickets } from './stream-tickets.js';

@Module({
  imports: [
    JobsModule,
    ThrottlerModule.forRootAsync({
      inject: [Settings],
      useFactory: (settings: Settings) => [{ ttl: 60_000, limit: settings.rate_limit.requests_per_minute }],
    }),
  ],
  providers: [
    ApiKeyStore,
    ApiKeyUses,
    AuditTrail,
    Authenticator,
    StreamTickets,
    { provide: APP_GUARD, useClass: RateLimitGuard },
    { provide: APP_GUARD, useClass: ScopeGuard },
    { provide: APP_INTERCEPTOR, useClass: AuditInterceptor },
  ],
  exports: [ApiKeyStore, Authenticator, StreamTickets],
})
export class AuthModule {}
