import { sumOf } from '../base/sum-of.js';
import type { EvaluationEvent } from '../evaluation/event.js';
import type { Task } from './task.js';

export interface Underway {
  readonly first: Task | undefined;
  readonly together: number;
  readonly runsDone: number;
  readonly runsTotal: number;
}

/** The time left is told once this share of the work, or of the runs of the only process, is done. */
const SHOWING_SHARE = 0.25;

/** Of the time left, by the speed of other work. Speeds differ by at most 2.5 times: a factor of two of the whole. */
const MAX_UNCERTAIN = 2 / 3;

/** Work of one kind, and the time that it took. */
interface Tally {
  tasks: number;
  work: number;
  doneTasks: number;
  doneWork: number;
  ms: number;
}

/** The first event of the process that measures now in which runs were done. */
interface FirstRuns {
  readonly of: Task | undefined;
  readonly atMs: number;
  readonly runs: number;
}

/** Of one kind of occasion; its total does not grow. The time left is not told while it would be a guess. */
export class RunProgress {
  readonly #tallies = new Map<string, Tally>();
  #total = 0;
  #done = 0;
  #shown = 0;
  /** The end of the time that is in the tallies; undefined before the start. */
  #markMs: number | undefined;
  #firstRuns: FirstRuns | undefined;

  /** @param step what is counted, in a word or two, where it is not the planned measurements */
  constructor(private readonly step?: string) {}

  static of(step: string, tasks: readonly Task[]): RunProgress {
    const part = new RunProgress(step);
    part.add(tasks);
    return part;
  }

  add(tasks: readonly Task[]): void {
    this.#change(tasks, 1);
  }

  drop(tasks: readonly Task[]): void {
    this.#change(tasks, -1);
  }

  #change(tasks: readonly Task[], sign: 1 | -1): void {
    this.#total += sign * tasks.length;
    for (const task of tasks) {
      const tally = this.#tallyOf(task);
      tally.tasks += sign;
      tally.work += sign * task.work;
    }
  }

  #tallyOf(task: Task): Tally {
    // Bricks are measured together, and whole models alone: their work takes different times.
    const kind = task.request.name === undefined ? 'brick' : 'model';
    const tally = this.#tallies.get(kind) ?? { tasks: 0, work: 0, doneTasks: 0, doneWork: 0, ms: 0 };
    this.#tallies.set(kind, tally);
    return tally;
  }

  /** Marks that measuring begins or goes on: the time before counts for no measurement. */
  start(): void {
    this.#markMs = performance.now();
    this.#firstRuns = undefined;
  }

  /** Leaves out time since the start in which nothing was measured here: other processes had their turn. */
  leaveOut(ms: number): void {
    if (this.#markMs === undefined) return;
    this.#markMs += ms;
    this.#firstRuns = undefined;
  }

  count(task: Task): void {
    const nowMs = performance.now();
    const tally = this.#tallyOf(task);
    tally.doneTasks++;
    tally.doneWork += task.work;
    tally.ms += nowMs - (this.#markMs ?? nowMs);
    this.#markMs = nowMs;
    this.#firstRuns = undefined;
    this.#done++;
  }

  event(label: string, underway: Underway): EvaluationEvent {
    const { together, runsDone, runsTotal } = underway;
    const share = runsTotal === 0 ? 0 : runsDone / runsTotal;
    const done = this.#done + Math.floor(share * together);
    this.#shown = Math.min(this.#total, Math.max(this.#shown, done));
    const secondsLeft = this.#secondsLeft(underway);
    return {
      ...{ kind: 'measuring', done: this.#shown, total: this.#total, label },
      ...(this.step === undefined ? {} : { step: this.step }),
      ...(secondsLeft === undefined ? {} : { secondsLeft }),
    };
  }

  /** Time until the process that measures now has made its runs; undefined where its runs do not show that yet. */
  #runsLeftMs({ first, runsDone, runsTotal }: Underway, nowMs: number): number | undefined {
    const seen = this.#firstRuns;
    if (seen === undefined || seen.of !== first || runsDone < seen.runs) {
      this.#firstRuns = runsDone === 0 ? undefined : { of: first, atMs: nowMs, runs: runsDone };
      return undefined;
    }
    if (runsDone === seen.runs || runsDone < SHOWING_SHARE * runsTotal) return undefined;
    return ((runsTotal - runsDone) * (nowMs - seen.atMs)) / (runsDone - seen.runs);
  }

  #secondsLeft(underway: Underway): number | undefined {
    if (this.#markMs === undefined) return undefined;
    const nowMs = performance.now();
    const sinceMs = nowMs - this.#markMs;
    const runsLeftMs = this.#runsLeftMs(underway, nowMs);
    const own = underway.first && this.#tallyOf(underway.first);
    const workNow = own === undefined ? 0 : estimateWork(underway, own);
    const parts = [...this.#tallies.values()].map((tally) => {
      const isNow = tally === own;
      const work = tally.doneWork + (isNow ? workNow : 0);
      const left = Math.max(0, tally.work - work);
      // A process whose runs show how long it takes counts as done.
      if (isNow && runsLeftMs !== undefined) return { tally, isNow, left, work, ms: tally.ms + sinceMs + runsLeftMs };
      return { tally, isNow, left, work: tally.doneWork, ms: tally.ms };
    });
    const allWork = sumOf(parts.map(({ work }) => work));
    const allMs = sumOf(parts.map(({ ms }) => ms));
    let leftMs = 0;
    let uncertainMs = 0;
    for (const { tally, isNow, left, work, ms } of parts) {
      const isCertain = work > 0 && work >= SHOWING_SHARE * tally.work;
      const msPerWork = isCertain ? ms / work : allMs / allWork;
      const nowLeftMs = isNow ? (runsLeftMs ?? Math.max(0, workNow * msPerWork - sinceMs)) : 0;
      const partMs = left * msPerWork + nowLeftMs;
      leftMs += partMs;
      if (!isCertain) uncertainMs += partMs;
    }
    return allWork === 0 || uncertainMs > MAX_UNCERTAIN * leftMs ? undefined : leftMs / 1000;
  }
}

/** The work that one process does now. Only the first of several tasks is known, so each counts as average work. */
function estimateWork({ first, together }: Underway, { tasks, work, doneTasks, doneWork }: Tally): number {
  if (together <= 1) return Math.min(first?.work ?? 0, work - doneWork);
  return (together * (work - doneWork)) / Math.max(together, tasks - doneTasks);
}
