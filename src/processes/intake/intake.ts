import { Injectable, Logger } from '@nestjs/common';
import { ErasureGate } from '../../core/personal-data/erasure-gate.js';
import { contentHash } from '../../core/turn/content-hash.js';
import { boundedText } from '../../core/turn/interactions.js';
import { salientText } from '../../core/turn/salient-text.js';
import type { FinishedTurn } from '../../core/turn/turn.models.js';
import { TurnStore, type TurnRecord } from '../../core/turn/turn.store.js';
import { EpisodeStore, type PreparedEpisode } from '../../memories/episodes/episode.store.js';
import { ApiError } from '../../platform/http/api-error.js';
import { invalidRequest } from '../../platform/http/validation.pipe.js';
import { TurnDrafts, type Submission } from './turn-drafts.js';
import { TurnFollowUp } from './turn-follow-up.js';
import { turnProblems } from './turn.rules.js';

export interface TurnReceipt {
  turn_id: string;
  episode_id: string;
  status: 'accepted' | 'superseded' | 'duplicate';
}

/** Takes finished turns in: turn, episode and the jobs that follow are one transaction, so an answer means durable. */
@Injectable()
export class Intake {
  private readonly log = new Logger(Intake.name);

  constructor(
    private readonly gate: ErasureGate,
    private readonly drafts: TurnDrafts,
    private readonly turns: TurnStore,
    private readonly episodes: EpisodeStore,
    private readonly followUp: TurnFollowUp,
  ) {}

  /** Throws 422 for a turn that cannot be, 404 for an agent that may not register, 409 for another body of the same turn_id. */
  async submit(submission: Submission): Promise<TurnReceipt> {
    const { orgId, turn } = submission;
    const problems = turnProblems(turn, new Date());
    if (problems.length > 0) throw invalidRequest(problems);
    const stored = await this.turns.find(orgId, turn.turn_id);
    if (stored?.contentHash === contentHash(turn)) return receipt(stored, 'duplicate');
    const [prepared] = await this.prepare([turn]);
    return this.store(submission, prepared!);
  }

  /** Each turn for itself and in order: one that is refused does not fail the others. One embedding call for all. */
  async submitAll(orgId: string, submissions: readonly Submission[]): Promise<(TurnReceipt | ApiError)[]> {
    const now = new Date();
    const problems = submissions.map(({ turn }) => turnProblems(turn, now));
    const stored = await this.turns.hashes(
      orgId,
      submissions.map(({ turn }) => turn.turn_id),
    );
    const fresh = submissions.filter(
      ({ turn }, index) => problems[index]!.length === 0 && stored.get(turn.turn_id) !== contentHash(turn),
    );
    const prepared = await this.prepare(fresh.map(({ turn }) => turn));
    const preparedOf = new Map(fresh.map((submission, index) => [submission, prepared[index]!]));
    const receipts: (TurnReceipt | ApiError)[] = [];
    for (const [index, submission] of submissions.entries()) {
      const found = problems[index]!;
      const ready = preparedOf.get(submission);
      receipts.push(
        found.length > 0
          ? invalidRequest(found)
          : await this.judged(submission, ready ?? this.unembedded(submission.turn)),
      );
    }
    return receipts;
  }

  private async judged(submission: Submission, prepared: PreparedEpisode): Promise<TurnReceipt | ApiError> {
    try {
      return await this.store(submission, prepared);
    } catch (error) {
      if (error instanceof ApiError) return error;
      this.log.error(`turn ${submission.turn.turn_id} of a batch failed: ${String(error)}`);
      return new ApiError(500, 'internal.error', 'The service failed; the fault is in its log.');
    }
  }

  private prepare(turns: readonly FinishedTurn[]): Promise<PreparedEpisode[]> {
    return this.episodes.prepare(turns.map(summaryOf));
  }

  /** For a turn that is there already, most likely: if it went meanwhile, its vector is made up for later. */
  private unembedded(turn: FinishedTurn): PreparedEpisode {
    return { ...summaryOf(turn), embedding: null };
  }

  private store(submission: Submission, prepared: PreparedEpisode): Promise<TurnReceipt> {
    return this.gate.transaction(submission.orgId, () => this.storeInTransaction(submission, prepared));
  }

  private async storeInTransaction(submission: Submission, prepared: PreparedEpisode): Promise<TurnReceipt> {
    const { orgId, turn, reflect } = submission;
    const draft = await this.drafts.of(submission);
    const { agent, record } = draft;
    const stored = await this.turns.find(orgId, turn.turn_id, { lock: true });
    if (stored?.contentHash === record.contentHash) return receipt(stored, 'duplicate');
    if (stored && stored.reviewOutcome !== 'self_iterate') throw conflict();
    const first = await this.turns.findDone(orgId, agent.id, record.workKey);
    if (first) return receipt(first, 'duplicate');
    if (stored) {
      await this.episodes.deleteOfTurn(orgId, turn.turn_id);
      await this.followUp.forget(orgId, turn.turn_id);
      await this.turns.replace(record);
    } else if (!(await this.turns.insert(record))) {
      return this.afterLostRace(submission, prepared, record);
    }
    await this.episodes.insert(this.drafts.episodeOf(draft, prepared));
    await this.followUp.arrange(draft, { reflect, taskSummary: prepared.taskSummary });
    return receipt(record, stored ? 'superseded' : 'accepted');
  }

  /** Another request took the turn_id or the work key between our look and our insert; it has committed. */
  private async afterLostRace(
    submission: Submission,
    prepared: PreparedEpisode,
    record: TurnRecord,
  ): Promise<TurnReceipt> {
    const winner =
      (await this.turns.find(record.orgId, record.turnId)) ??
      (await this.turns.findDone(record.orgId, record.agentId, record.workKey));
    if (!winner) throw new Error(`turn ${record.turnId} was neither stored nor found`);
    if (winner.turnId !== record.turnId || winner.contentHash === record.contentHash)
      return receipt(winner, 'duplicate');
    // Whoever comes second to an unfinished body takes its place; the row is there now, so this ends.
    if (winner.reviewOutcome === 'self_iterate') return this.storeInTransaction(submission, prepared);
    throw conflict();
  }
}

function summaryOf(turn: FinishedTurn): { taskSummary: string; planSummary: string } {
  return {
    taskSummary: salientText(turn.interactions, turn.task_description),
    planSummary: boundedText(turn.plan.summary),
  };
}

function receipt(turn: TurnRecord, status: TurnReceipt['status']): TurnReceipt {
  return { turn_id: turn.turnId, episode_id: turn.episodeId, status };
}

function conflict(): ApiError {
  return new ApiError(409, 'turn.conflict', 'This turn_id is already stored with another content.');
}
