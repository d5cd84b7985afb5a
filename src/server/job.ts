import { type FinalEvent, isFinal, type LoggedEvent, waiting } from '../evaluation/event.js';
import { EventLog, type IsOwn, LostEvaluation } from './event-log.js';
import { untilAborted } from '../base/cancellation.js';
import type { Requirements } from '../manifest/requirements.js';
import type { RunKey } from '../evaluation/link/link.js';
import type { EvaluationCollections, EvaluationRecord, EvaluationState } from '../evaluation/records.js';

const STATE_AFTER = { done: 'done', failed: 'failed', cancelled: 'cancelled' } as const satisfies Record<
  FinalEvent['kind'],
  EvaluationState
>;

export function recordAfter(record: EvaluationRecord, last: LoggedEvent | undefined): EvaluationRecord {
  if (last === undefined || !isFinal(last.event)) return record;
  return { ...record, state: STATE_AFTER[last.event.kind], changedAt: last.at };
}

export class EvaluationJob {
  #record: EvaluationRecord;
  readonly #end = new AbortController();
  readonly ended = untilAborted(this.#end.signal);
  readonly left = new AbortController();
  isCancelled = false;
  /** Its place in the queue in the last event about it, 0 while its plugin is being started; undefined while it does not wait for its plugin. */
  toldPosition: number | undefined;
  /** How often its plugin, or its agent at work, was lost during a run in this process. */
  losses = 0;
  /** Evaluations with smaller numbers run first. */
  turn = 0;
  /** Whether it found an agent at its last attempt, and has let earlier ones look for one first. */
  hasGivenWay = false;
  #lackingSinceMs: number | undefined;

  private constructor(
    record: EvaluationRecord,
    readonly log: EventLog,
    private readonly collections: EvaluationCollections,
    private readonly isOwn: IsOwn,
    /** Its requirements on an agent; undefined until they are read from the store. */
    public requirements: Requirements | undefined,
  ) {
    this.#record = record;
  }

  static async open(
    record: EvaluationRecord,
    collections: EvaluationCollections,
    isOwn: IsOwn,
    requirements?: Requirements,
  ): Promise<EvaluationJob> {
    const log = await EventLog.open(record.id, collections.events, isOwn);
    return new EvaluationJob(record, log, collections, isOwn, requirements);
  }

  /** The record. Its state ends as soon as the log does, so that a reader of the last event never sees it running. */
  get record(): EvaluationRecord {
    return recordAfter(this.#record, this.log.last);
  }

  get id(): string {
    return this.#record.id;
  }

  get run(): RunKey {
    return { evaluationId: this.id, attempt: this.#record.attempts };
  }

  /** Begins a run on a plugin. @throws LostEvaluation if another server has the evaluation */
  async start(): Promise<RunKey> {
    if (!(await this.isOwn())) throw new LostEvaluation();
    await this.#change({ state: 'running', attempts: this.#record.attempts + 1 });
    return this.run;
  }

  async requeue(reason: string): Promise<void> {
    this.#lackingSinceMs = undefined;
    await this.wait(`${reason}; everything measured so far is kept (with \`remeasure: all\`, it is measured again)`);
    await this.#change({ state: 'queued' });
  }

  /** Takes back a run that no agent has begun. */
  async takeBack(): Promise<void> {
    await this.#change({ state: 'queued' });
  }

  /** Called whenever it lacks an agent. @returns the time since the first call of this wait, in ms */
  lackingMs(): number {
    const nowMs = performance.now();
    this.#lackingSinceMs ??= nowMs;
    return nowMs - this.#lackingSinceMs;
  }

  /** Adds a `waiting` event, unless the last event has the same reason. */
  async wait(reason: string): Promise<void> {
    const last = this.log.last?.event;
    const event = waiting(reason);
    if (last?.kind !== 'waiting' || last.reason !== event.reason) await this.log.append(event);
  }

  /** Only the first end counts. Stores the state last: until then, a server that resumes finds the end in the log. */
  async finish(how: FinalEvent): Promise<void> {
    if (!this.log.hasEnded) await this.log.append(how);
    await this.collections.parts.delete({ evaluation: this.id });
    await this.#keep(this.record);
    this.#end.abort();
  }

  #change(changes: Partial<EvaluationRecord>): Promise<void> {
    return this.#keep({ ...this.#record, ...changes, changedAt: new Date().toISOString() });
  }

  async #keep(record: EvaluationRecord): Promise<void> {
    await this.collections.records.put(record);
    this.#record = record;
  }
}
