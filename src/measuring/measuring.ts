import { setTimeout as after } from 'node:timers/promises';
import type { BenchmarkAgent, MeasuredRequest, RequestProgress } from '../agent/benchmark-agent.js';
import { counted } from '../base/counted.js';
import { PlatformError } from '../base/errors.js';
import type { EvaluationEvent } from '../evaluation/event.js';
import { computeDisturbance, isUnderLoad } from '../measurement/disturbance.js';
import type { Measurement } from '../measurement/measurement.js';
import { DEFAULT_REMEASURE, isNewTakenAgain, type Remeasure } from '../measurement/remeasure.js';
import type { System } from '../measurement/system.js';
import type { Holder } from '../store/leases/leases.js';
import type { ResultStore } from '../store/result-store.js';
import type { KnownResults } from './known-results.js';
import { MeasuredOnce } from './measured-once.js';
import { RetakeLimit, undisturbed } from './retake.js';
import { RunProgress } from './run-progress.js';
import { Storing } from './storing.js';
import type { Task } from './task.js';

export interface MeasuringContext {
  readonly agent: BenchmarkAgent;
  readonly store: ResultStore;
  /** Once aborted, no further measurement starts, and the existing ones are composed. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: EvaluationEvent) => void;
}

/** Time between two progress events of one measurement. */
const RUNNING_INTERVAL_MS = 500;

/** Time between two checks for measurements of others. */
const WAIT_MS = 1000;

/** The step in which disturbed measurements are taken again. */
const AGAIN = 'taking again';

/** Most other processes that a message names; there are rarely more. */
const MAX_NAMED = 3;

/** Takes what no other process takes, stores each result at once, waits for the others'. One for each system. */
export class Measuring {
  readonly #retakeLimit = new RetakeLimit();
  #wallMs = 0;
  #delayMs = 0;
  /** Start of the current delay; undefined where there is none. */
  #delayedFromMs: number | undefined;
  #isRetaking = false;
  /** The count of the measurements that are taken now, without those that are taken again. */
  #counting: RunProgress;
  #arrived = 0;
  #hasToldOfOthers = false;
  #hasToldOfWaiting = false;
  /** True until the repetition of a stored measurement is disturbed as well. */
  #isQuiet = true;

  constructor(
    private readonly context: MeasuringContext,
    private readonly system: System,
    private readonly results: KnownResults,
    private readonly progress: RunProgress,
  ) {
    this.#counting = progress;
  }

  /** Wall time of all measuring so far, without {@link delayMs}; ms. */
  get wallMs(): number {
    return this.#wallMs - this.#delayMs;
  }

  /** Lost to others: waiting for those that measure on the machine, and repeating disturbed measurements; ms. */
  get delayMs(): number {
    return this.#delayMs;
  }

  /** Until it is called again, all time counts as taking disturbed measurements again, or none does. */
  #setRetaking(isRetaking: boolean): void {
    this.#isRetaking = isRetaking;
    this.#setDelayed(isRetaking);
  }

  #setDelayed(isDelayed: boolean): void {
    const nowMs = performance.now();
    if (this.#delayedFromMs !== undefined) {
      const delayMs = nowMs - this.#delayedFromMs;
      this.#delayMs += delayMs;
      this.#counting.leaveOut(delayMs);
    }
    this.#delayedFromMs = isDelayed ? nowMs : undefined;
  }

  /** Number of measurements that other processes took in place of this one. */
  get arrived(): number {
    return this.#arrived;
  }

  /** Until done or interrupted. @param tasks already in the progress @returns how many were measured here */
  async measure(
    tasks: readonly Task[],
    remeasure = DEFAULT_REMEASURE,
    progress: RunProgress = this.progress,
  ): Promise<number> {
    const { store, signal } = this.context;
    if (tasks.length === 0 || signal.aborted) return 0;
    const startMs = performance.now();
    this.#counting = progress;
    progress.start();
    const once = new MeasuredOnce(store, this.system, this.results);
    let measured = 0;
    try {
      for (let left = tasks; left.length > 0 && !signal.aborted;) {
        const { own, arrived, awaited, others } = await once.share(left);
        this.#arrived += arrived.length;
        for (const task of arrived) progress.count(task);
        measured += await this.#measureOwn(own, remeasure);
        await once.release();
        if (own.length === 0 && awaited.length > 0) await this.#waitFor(awaited.length, others);
        left = awaited;
      }
    } finally {
      await once.close();
      this.#wallMs += performance.now() - startMs;
    }
    return measured;
  }

  async #waitFor(measurements: number, others: readonly Holder[]): Promise<void> {
    const { onEvent, signal } = this.context;
    const named = others.slice(0, MAX_NAMED).map(({ pid, host }) => `process ${pid} on ${host}`);
    const more = others.length > MAX_NAMED ? ` and ${others.length - MAX_NAMED} more` : '';
    const what = counted(measurements, 'measurement');
    const message = `waiting for ${what} that ${named.join(', ')}${more} takes for another evaluation`;
    if (!this.#hasToldOfOthers) onEvent({ kind: 'note', level: 'info', message });
    this.#hasToldOfOthers = true;
    onEvent(this.#counting.event(message, { first: undefined, together: 0, runsDone: 0, runsTotal: 0 }));
    this.#setDelayed(true);
    await after(WAIT_MS, undefined, { signal }).catch(() => undefined);
    this.#setDelayed(false);
  }

  async #measureOwn(tasks: readonly Task[], remeasure: Remeasure): Promise<number> {
    const { store, signal, onEvent } = this.context;
    if (tasks.length === 0) return 0;
    let progress = this.#counting;
    const measured = new Set<number>();
    const stored = new WeakSet<Measurement>();
    const taken = this.#taker();
    let isRepeating = false;
    const take = async function* (indices: readonly number[]): AsyncGenerator<MeasuredRequest> {
      const again = indices.flatMap((index) => tasks[index] ?? []);
      if (isRepeating) progress = RunProgress.of(AGAIN, again);
      isRepeating = true;
      for await (const { index, measurement, isStored } of taken(again, progress)) {
        if (isStored === true) stored.add(measurement);
        const ofTask = indices[index];
        if (ofTask !== undefined) yield { index: ofTask, measurement };
      }
    };
    const onRetake = (measurements: number, disturbance: number): void => {
      const share = (disturbance * 100).toFixed(0);
      const what = counted(measurements, 'measurement');
      const message = `taking ${what} again: other processes took ${share} % of the processors' time meanwhile`;
      onEvent({ kind: 'note', level: 'info', message });
      this.#setRetaking(true);
    };
    const limit = isNewTakenAgain(remeasure) ? this.#retakeLimit : new RetakeLimit(0);
    const retaking = { limit, signal, onRetake };
    const storing = new Storing(store);
    try {
      for await (const { index, measurement } of undisturbed([...tasks.keys()], take, retaking)) {
        measured.add(index);
        const task = tasks[index];
        const stays = task !== undefined && this.results.get(task.request)?.outcome.kind === 'samples';
        if (measurement.outcome.kind === 'failure') {
          const { reason, message } = measurement.outcome;
          const text = `${task?.label ?? ''}: ${reason}: ${message}${stays ? '; the earlier measurement stays' : ''}`;
          onEvent({ kind: 'note', level: 'warning', message: text });
          if (stays) continue;
        }
        if (!stored.has(measurement)) await storing.put(measurement);
        this.results.put(measurement);
      }
    } catch (error) {
      if (!(error instanceof PlatformError && error.code === 'cancelled')) throw error;
    } finally {
      await storing.done();
      this.#setRetaking(false);
    }
    return measured.size;
  }

  /** Until a new one is disturbed too. A less disturbed one replaces the stored one. @returns how many were replaced */
  async replaceWhileQuiet(tasks: readonly Task[]): Promise<number> {
    const { store, signal } = this.context;
    if (tasks.length === 0 || this.#retakeLimit.isReached || !this.#isQuiet || signal.aborted) return 0;
    const startMs = performance.now();
    const once = new MeasuredOnce(store, this.system, this.results);
    this.#setRetaking(true);
    try {
      return await this.#replace((await once.share(tasks)).own);
    } finally {
      await once.close();
      this.#setRetaking(false);
      this.#wallMs += performance.now() - startMs;
    }
  }

  async #replace(tasks: readonly Task[]): Promise<number> {
    const { store, onEvent } = this.context;
    if (tasks.length === 0) return 0;
    const note = (message: string): void => onEvent({ kind: 'note', level: 'info', message });
    note(`taking ${tasks.length} of the stored measurements again, because other processes disturbed them`);
    let replaced = 0;
    try {
      for await (const { index, measurement } of this.#taker()(tasks, RunProgress.of(AGAIN, tasks))) {
        const task = tasks[index];
        const before = task && this.results.get(task.request);
        if (before === undefined) continue;
        if (measurement.outcome.kind === 'samples' && computeDisturbance(measurement) < computeDisturbance(before)) {
          await store.putMeasurement(measurement);
          this.results.put(measurement);
          replaced++;
        }
        if (!isUnderLoad(measurement)) continue;
        this.#isQuiet = false;
        const kept = tasks.length - replaced;
        if (kept > 0) note(`the machine is still busy: keeping ${kept} of them as they are`);
        break;
      }
    } catch (error) {
      if (!(error instanceof PlatformError && error.code === 'cancelled')) throw error;
    }
    return replaced;
  }

  /** Measures tasks. It tells of each new one at once, and of its runs at most every {@link RUNNING_INTERVAL_MS}. */
  #taker() {
    const { agent, signal, onEvent } = this.context;
    let label = '';
    let toldMs = 0;
    const tell = (state: RequestProgress, first: Task | undefined, progress: RunProgress): void => {
      const { together, runsDone, runsTotal, waitsFor } = state;
      this.#setDelayed(waitsFor !== undefined || this.#isRetaking);
      const of = first?.label ?? '';
      const session = together > 1 ? `${of} and ${counted(together - 1, 'more brick')}` : of;
      const now = waitsFor === undefined ? session : this.#waitingMessage(waitsFor);
      const isNew = now !== label;
      if (!isNew && performance.now() - toldMs < RUNNING_INTERVAL_MS) return;
      label = now;
      toldMs = performance.now();
      const text = isNew ? label : `${label} (run ${runsDone} of ${runsTotal})`;
      onEvent(progress.event(text, { first, together, runsDone, runsTotal }));
    };
    return async function* (tasks: readonly Task[], progress: RunProgress): AsyncGenerator<MeasuredRequest> {
      progress.start();
      const requests = tasks.map(({ request }) => request);
      const onProgress = (state: RequestProgress): void => tell(state, tasks[state.index], progress);
      for await (const measured of agent.measure(requests, { signal, onProgress })) {
        const task = tasks[measured.index];
        if (task === undefined) continue;
        progress.count(task);
        yield measured;
      }
    };
  }

  /** The message while another process measures on the agent's machine. */
  #waitingMessage(pid: number): string {
    const message = `waiting for process ${pid}, which measures on the same machine`;
    if (!this.#hasToldOfWaiting) this.context.onEvent({ kind: 'note', level: 'info', message });
    this.#hasToldOfWaiting = true;
    return message;
  }
}
