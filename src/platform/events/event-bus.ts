import { Injectable, Logger } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { v7 as uuidV7 } from 'uuid';
import { Database } from '../database/database.js';
import type { AnyEvent, AppEvent, AppEventType, AppObservations, EventDraft, ObservationType } from './app-events.js';

/** Names on the emitter that no type of event has. */
const EVERY = Symbol('every event');
const observed = (type: string): string => `observed:${type}`;

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
    const event = { id: uuidV7(), type, timestamp: new Date().toISOString(), ...draft };
    this.database.afterCommit(() => {
      this.emitter.emit(type, event);
      this.emitter.emit(EVERY, event);
    });
  }

  /** Calls `listener` for every event of `type`; answers with the function that ends it. */
  on<Type extends AppEventType>(type: Type, listener: (event: AppEvent<Type>) => void | Promise<void>): () => void {
    return this.listen(type, (event: AppEvent<Type>) => `${type} of turn ${event.turn_id ?? '-'}`, listener);
  }

  /** Calls `listener` for every event, whatever its type; answers with the function that ends it. */
  onEvery(listener: (event: AnyEvent) => void | Promise<void>): () => void {
    return this.listen(EVERY, (event: AnyEvent) => `${event.type} of turn ${event.turn_id ?? '-'}`, listener);
  }

  /** Says what was measured, after the commit of the running transaction. */
  observe<Type extends ObservationType>(type: Type, observation: AppObservations[Type]): void {
    this.database.afterCommit(() => {
      this.emitter.emit(observed(type), observation);
    });
  }

  /** Calls `listener` for every observation of `type`; answers with the function that ends it. */
  onObservation<Type extends ObservationType>(
    type: Type,
    listener: (observation: AppObservations[Type]) => void,
  ): () => void {
    return this.listen(observed(type), () => observed(type), listener);
  }

  private listen<Heard>(
    name: string | symbol,
    nameOf: (heard: Heard) => string,
    listener: (heard: Heard) => void | Promise<void>,
  ): () => void {
    const heard = async (what: Heard): Promise<void> => {
      try {
        await listener(what);
      } catch (error) {
        this.log.warn(`a listener of ${nameOf(what)} failed: ${String(error)}`);
      }
    };
    const guarded = (what: Heard): void => void heard(what);
    this.emitter.on(name, guarded);
    return () => this.emitter.off(name, guarded);
  }
}
