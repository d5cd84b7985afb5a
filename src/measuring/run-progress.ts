import type { EvaluationEvent } from '../evaluation/event.js';
import type { Task } from './task.js';

/** Tasks that one process measures now, and its progress. */
export interface Underway {
  readonly first: Task | undefined;
  readonly together: number;
  readonly runsDone: number;
  readonly runsTotal: number;
}

/**
 * Counts all measurements of a command. The count never decreases. The total grows where more measurements turn out to
 * be needed. The time left takes into account that some measurements take much longer than others.
 */
export class RunProgress {
  #total = 0;
  #done = 0;
  #totalWork = 0;
  #doneWork = 0;
  #shown = 0;
  #startMs: number | undefined;

  /** Adds measurements to take. */
  add(tasks: readonly Task[]): void {
    this.#total += tasks.length;
    this.#totalWork += workOf(tasks);
  }

  /** Removes measurements that are not taken after all. */
  drop(tasks: readonly Task[]): void {
    this.#total -= tasks.length;
    this.#totalWork -= workOf(tasks);
  }

  /** Marks the start of measuring; the time left is estimated from here. */
  start(): void {
    this.#startMs ??= performance.now();
  }

  /** Counts a finished measurement. */
  count(task: Task): void {
    this.#done++;
    this.#doneWork += task.work;
  }

  event(label: string, { first, together, runsDone, runsTotal }: Underway): EvaluationEvent {
    const share = runsTotal === 0 ? 0 : runsDone / runsTotal;
    const done = this.#done + Math.floor(share * together);
    this.#shown = Math.min(this.#total, Math.max(this.#shown, done));
    const work = this.#doneWork + share * this.#workOf(first, together);
    const secondsLeft = this.#secondsLeft(work);
    const event = { kind: 'measuring', done: this.#shown, total: this.#total, label } as const;
    return secondsLeft === undefined ? event : { ...event, secondsLeft };
  }

  /**
   * The work of tasks that one process measures. Where there are several, only the first is known, so each counts as
   * average work.
   */
  #workOf(first: Task | undefined, together: number): number {
    if (together <= 1) return first?.work ?? 0;
    return (together * (this.#totalWork - this.#doneWork)) / Math.max(together, this.#total - this.#done);
  }

  /** undefined until some work is done, because there is nothing to estimate from. */
  #secondsLeft(work: number): number | undefined {
    if (work <= 0 || this.#startMs === undefined) return undefined;
    const elapsedMs = performance.now() - this.#startMs;
    return (Math.max(0, this.#totalWork - work) / work) * (elapsedMs / 1000);
  }
}

function workOf(tasks: readonly Task[]): number {
  return tasks.reduce((sum, { work }) => sum + work, 0);
}
