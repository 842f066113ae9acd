import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { Database } from '../database/database.js';
import type { AppEvent, AppEventType, EventDraft } from './app-events.js';

/**
 * The typed in-process bus. An event published inside a transaction leaves after its commit, and not at all if it
 * rolls back. A listener that throws harms nobody: it is logged.
 */
@Injectable()
export class EventBus {
  private readonly log = new Logger(EventBus.name);

  constructor(
    private readonly emitter: EventEmitter2,
    private readonly database: Database,
  ) {}

  publish<Type extends AppEventType>(type: Type, draft: EventDraft<Type>): void {
    const event = { id: randomUUID(), type, timestamp: new Date().toISOString(), ...draft };
    this.database.afterCommit(() => {
      this.emitter.emit(type, event);
    });
  }

  /** Calls `listener` for every event of `type`; answers with the function that ends it. */
  on<Type extends AppEventType>(type: Type, listener: (event: AppEvent<Type>) => void | Promise<void>): () => void {
    const heard = async (event: AppEvent<Type>): Promise<void> => {
      try {
        await listener(event);
      } catch (error) {
        this.log.warn(`a listener of ${type} failed for turn ${event.turn_id ?? '-'}: ${String(error)}`);
      }
    };
    const guarded = (event: AppEvent<Type>): void => void heard(event);
    this.emitter.on(type, guarded);
    return () => this.emitter.off(type, guarded);
  }
}
