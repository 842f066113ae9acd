import { randomUUID } from 'node:crypto';
import type TestAgent from 'supertest/lib/agent.js';
import type { DiaryView } from '../../src/memories/diary/diary.models.js';
import type { AppEvent, AppEventType } from '../../src/platform/events/app-events.js';
import { EventBus } from '../../src/platform/events/event-bus.js';
import type { TestApp } from './app.js';

/** A plan context that is fit to be asked for; without a word in it, so that nothing is matched. */
export function aPlanRequest(changes: Record<string, unknown> = {}): Record<string, unknown> & { turn_id: string } {
  return { turn_id: randomUUID(), role: 'support', task_description: '', interactions: [], ...changes };
}

/** Makes an agent known, as its first turn would; answers with its id. */
export async function register(http: TestAgent, handle: string, role = 'support'): Promise<string> {
  const path = `/agents/${encodeURIComponent(handle)}/plan-context`;
  const { body } = await http.post(path).send(aPlanRequest({ role })).expect(200);
  return (body as { agent_id: string }).agent_id;
}

/** Writes a memory as an operator does; of kind `diary_long` where nothing else is said. */
export async function remember(
  http: TestAgent,
  agent: string,
  content: string,
  changes: Record<string, unknown> = {},
): Promise<DiaryView> {
  const path = `/agents/${encodeURIComponent(agent)}/diary`;
  const { status, body } = await http.post(path).send({ kind: 'diary_long', content, ...changes });
  if (status !== 200 && status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body as DiaryView;
}

/** The agent's memories, newest first; `query` is the query string. */
export async function memoriesOf(http: TestAgent, agent: string, query = ''): Promise<DiaryView[]> {
  const { body } = await http.get(`/agents/${encodeURIComponent(agent)}/diary${query}`).expect(200);
  return (body as { items: DiaryView[] }).items;
}

export interface ToolAnswer {
  output: string;
  is_error: boolean;
  data: Record<string, unknown> | null;
}

/** Calls a tool in the plan phase of a turn, a new one where none is given. */
export async function callTool(
  http: TestAgent,
  agent: string,
  tool: string,
  args: unknown,
  turn: { turn_id?: string; phase?: string } = {},
): Promise<ToolAnswer> {
  const call = { turn_id: randomUUID(), phase: 'plan', arguments: args, ...turn };
  const { body } = await http
    .post(`/agents/${encodeURIComponent(agent)}/tools/${tool}`)
    .send(call)
    .expect(200);
  return body as ToolAnswer;
}

/** Reads again and again until `holds`, for ten seconds at most. */
export async function eventually<Value>(
  read: () => Promise<Value> | Value,
  holds: (value: Value) => boolean,
): Promise<Value> {
  for (const deadline = Date.now() + 10_000; ; await new Promise((resolve) => setTimeout(resolve, 25))) {
    const value = await read();
    if (holds(value)) return value;
    if (Date.now() > deadline) throw new Error(`in vain: ${JSON.stringify(value)}`);
  }
}

/** All events of one type from now on, as they come. */
export function eventsOf<Type extends AppEventType>(test: TestApp, type: Type): AppEvent<Type>[] {
  const seen: AppEvent<Type>[] = [];
  test.app.get(EventBus).on(type, (event) => void seen.push(event));
  return seen;
}

/** Waits until the first run of a job that begins at the start of the service has ended, well or not. */
export async function firstRunEnded(
  http: TestAgent,
  task: string,
  headers: Record<string, string> = {},
): Promise<void> {
  await eventually(
    async () => (await http.get(`/jobs?task=${task}`).set(headers).expect(200)).body as { items: { status: string }[] },
    ({ items }) => !items.some(({ status }) => ['pending', 'running'].includes(status)),
  );
}
