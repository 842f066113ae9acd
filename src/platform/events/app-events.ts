/** What every event carries besides its payload. */
export interface EventEnvelope<Type extends string, Payload> {
  /** A UUID of version 7: it tells when the event was published. */
  id: string;
  type: Type;
  /** ISO-8601, UTC. */
  timestamp: string;
  org_id: string;
  agent_id: string | null;
  agent_handle: string | null;
  role: string | null;
  turn_id: string | null;
  trace_id: string | null;
  span_id: string | null;
  payload: Payload;
}

/** The open map of event type to payload. Each room declares its own by merging into this interface. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- rooms merge their events into it
export interface AppEvents {}

export type AppEventType = keyof AppEvents & string;
export type AppEvent<Type extends AppEventType = AppEventType> = EventEnvelope<Type, AppEvents[Type]>;

/** An event of whatever type. */
export type AnyEvent = EventEnvelope<string, unknown>;

/** What the publisher states; id and timestamp are given by the bus. */
export type EventDraft<Type extends AppEventType> = Omit<AppEvent<Type>, 'id' | 'timestamp' | 'type'>;

/**
 * The open map of what is measured and is no event: it is counted in this process, never stored and never shown. Rooms
 * merge into it as into `AppEvents`.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- rooms merge their observations into it
export interface AppObservations {}

export type ObservationType = keyof AppObservations & string;
