import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { fieldProblems, validationOptions } from '../src/platform/http/validation.pipe.js';
import { FinishedTurnDto } from '../src/processes/intake/turn.dto.js';
import { turnProblems } from '../src/processes/intake/turn.rules.js';

const directory = new URL('./turns/', import.meta.url);
const turns = readdirSync(directory)
  .filter((name) => name.endsWith('.ndjson'))
  .flatMap((name) => readFileSync(new URL(name, directory), 'utf8').trimEnd().split('\n'))
  .map((line) => JSON.parse(line) as FinishedTurnDto)
  .sort((a, b) => Date.parse(a.ended_at) - Date.parse(b.ended_at));

const count = (wanted: (turn: FinishedTurnDto) => boolean): number => turns.filter(wanted).length;
const bodies = turns.flatMap(({ interactions }) => interactions.map(({ body }) => body ?? ''));

describe('the example turns', () => {
  it('are all accepted by the rules of POST /turns', () => {
    // Judged at the time of the last one, so that the outcome does not depend on the clock.
    const now = new Date(turns.at(-1)?.ended_at ?? 0);
    for (const turn of turns) {
      const dto = plainToInstance(FinishedTurnDto, turn);
      const problems = [...fieldProblems(validateSync(dto, validationOptions)), ...turnProblems(dto, now)];
      expect({ turn_id: turn.turn_id, problems }).toEqual({ turn_id: turn.turn_id, problems: [] });
    }
  });

  it('are many, of several agents and of people on four platforms', () => {
    expect(turns.length).toBeGreaterThanOrEqual(55);
    expect(new Set(turns.map(({ agent }) => agent)).size).toBeGreaterThanOrEqual(3);
    const platforms = turns.flatMap(({ interactions }) => interactions.map(({ platform }) => platform));
    expect(new Set(platforms)).toEqual(new Set(['slack', 'jira', 'email', 'github']));
  });

  it('carry a turn_id only once, but for a self_iterate that is posted again', () => {
    const seen = new Map<string, FinishedTurnDto>();
    for (const turn of turns) {
      const earlier = seen.get(turn.turn_id);
      if (earlier) {
        expect({ id: turn.turn_id, outcomes: [earlier.review_outcome, turn.review_outcome] }).toEqual({
          id: turn.turn_id,
          outcomes: ['self_iterate', 'done'],
        });
      }
      seen.set(turn.turn_id, turn);
    }
    expect(turns.length - seen.size).toBeGreaterThanOrEqual(2);
  });

  it('name one role for each agent and one person for each identity', () => {
    const roles = new Map<string, Set<string>>();
    const people = new Map<string, Set<string | null>>();
    for (const { agent, role, interactions } of turns) {
      roles.set(agent, (roles.get(agent) ?? new Set()).add(role));
      for (const { platform, external_id: id, display_name: name } of interactions) {
        people.set(`${platform}:${id}`, (people.get(`${platform}:${id}`) ?? new Set()).add(name));
      }
    }
    for (const names of [...roles.values(), ...people.values()]) expect(names.size).toBe(1);
  });

  it('give a failure reason with every failure and with nothing else', () => {
    for (const turn of turns) expect(turn.failure_reason != null).toBe(turn.review_outcome === 'failed');
    const reasons = new Set(turns.map((turn) => turn.failure_reason).filter((reason) => reason != null));
    expect(reasons).toEqual(new Set(['stall', 'max_iterations', 'exception', 'llm_unavailable']));
  });

  it('hold the situations that the service tells apart', () => {
    expect(count(({ plan }) => plan.decision === 'skip')).toBeGreaterThanOrEqual(2);
    expect(count(({ interactions }) => interactions.some((said) => said.requires_recon))).toBeGreaterThanOrEqual(3);
    expect(
      count(({ interactions }) => new Set(interactions.map((said) => said.external_id)).size === 2),
    ).toBeGreaterThanOrEqual(2);
    expect(count(({ plan_tool_sequence: tools }) => tools.includes('reflect_and_persist'))).toBeGreaterThanOrEqual(1);
    expect(count(({ skills_used: skills }) => skills.length > 0)).toBeGreaterThanOrEqual(5);
    const conversations = turns.map(({ conversation_id: id }) => id);
    expect(new Set(conversations).size).toBeLessThan(turns.length);
    expect(bodies.some((body) => /\p{Script=Hiragana}/u.test(body))).toBe(true);
    expect(bodies.some((body) => /\p{Extended_Pictographic}/u.test(body))).toBe(true);
    expect(bodies).toContain('+1');
  });

  it('repeat some long tool sequences', () => {
    const times = new Map<string, number>();
    for (const { tool_sequence: tools } of turns) {
      if (tools.length >= 5) times.set(tools.join(), (times.get(tools.join()) ?? 0) + 1);
    }
    expect([...times.values()].filter((repeats) => repeats >= 3).length).toBeGreaterThanOrEqual(3);
  });

  it('post the same trigger again only after a failure, but for one webhook delivered twice', () => {
    const done = new Set<string>();
    const repeated = turns.filter(({ agent, trigger_event_ids: ids, review_outcome: outcome }) => {
      const key = `${agent} ${[...ids].sort().join()}`;
      const known = ids.length > 0 && done.has(key);
      if (outcome === 'done') done.add(key);
      return known;
    });
    expect(repeated).toHaveLength(1);
  });

  it('write to nobody outside the domains reserved for examples', () => {
    const addresses = JSON.stringify(turns).match(/[\w.]+@[\w-]+(?:\.[\w-]+)+/g) ?? [];
    const foreign = addresses.filter((address) => !/\.example$|@example\.(?:org|com|net)$/.test(address));
    expect(foreign).toEqual([]);
  });
});
