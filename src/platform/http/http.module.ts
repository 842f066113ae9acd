import { Global, Module } from '@nestjs/common';
import { ShutdownSignal } from './shutdown-signal.js';

@Global()
@Module({ providers: [ShutdownSignal], exports: [ShutdownSignal] })
export class HttpModule {}
