import {
  type BenchmarkAgent,
  disturbanceOf,
  type EvaluationEvent,
  isDisturbed,
  type MeasuredRequest,
  PlatformError,
  type ResultStore,
} from '../../../src/plugin-api.js';
import type { KnownResults } from './results.js';
import { RetakeLimit, undisturbed } from './retake.js';
import { Storing } from './storing.js';
import type { Task } from './tasks.js';

/** The agent, the store and the callbacks of measuring. */
export interface MeasuringContext {
  readonly agent: BenchmarkAgent;
  readonly store: ResultStore;
  /** Once aborted, no further measurement starts, and the existing ones are composed. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: EvaluationEvent) => void;
}

/** Time between two progress events of one measurement. */
const RUNNING_INTERVAL_MS = 500;

/** Position of the tasks in one count of progress. */
export interface ProgressPosition {
  readonly before: number;
  readonly total: number;
}

/** Measures, stores each result at once, and counts. An evaluation has one. */
export class Measuring {
  readonly #retakeLimit = new RetakeLimit();
  #wallMs = 0;
  /** Until a stored measurement that was taken again was disturbed as well. */
  #isQuiet = true;

  constructor(
    private readonly context: MeasuringContext,
    private readonly results: KnownResults,
  ) {}

  /** Wall time of all measuring so far, waiting and repeated measurements included; ms. */
  get wallMs(): number {
    return this.#wallMs;
  }

  /** Measures until done or interrupted. @returns how many were measured */
  async measure(
    tasks: readonly Task[],
    position: ProgressPosition = { before: 0, total: tasks.length },
  ): Promise<number> {
    const { agent, store, signal, onEvent } = this.context;
    if (tasks.length === 0 || signal.aborted) return 0;
    const startMs = performance.now();
    const measured = new Set<number>();
    const tell = this.#progress(tasks, position, () => measured.size);
    const take = async function* (indices: readonly number[]): AsyncGenerator<MeasuredRequest> {
      const requests = indices.flatMap((index) => tasks[index]?.request ?? []);
      const onProgress = tell.running(indices);
      for await (const { index, measurement } of agent.measure(requests, { signal, onProgress })) {
        const ofTask = indices[index];
        if (ofTask !== undefined) yield { index: ofTask, measurement };
      }
    };
    const retaking = { limit: this.#retakeLimit, signal, onRetake: tell.retaking };
    const storing = new Storing(store);
    try {
      for await (const { index, measurement } of undisturbed([...tasks.keys()], take, retaking)) {
        measured.add(index);
        const task = tasks[index];
        const stays = task !== undefined && this.#hasSamples(task);
        if (measurement.outcome.kind === 'failure') {
          const { reason, message } = measurement.outcome;
          const text = `${task?.label ?? ''}: ${reason}: ${message}${stays ? '; what was measured before stays' : ''}`;
          onEvent({ kind: 'note', level: 'warning', message: text });
          if (stays) continue;
        }
        await storing.put(measurement);
        this.results.put(measurement);
      }
    } catch (error) {
      if (!(error instanceof PlatformError && error.code === 'cancelled')) throw error;
    } finally {
      await storing.done().finally(() => {
        this.#wallMs += performance.now() - startMs;
      });
    }
    return measured.size;
  }

  /**
   * Repeats stored measurements that other processes disturbed, until the first disturbed repetition. A new measurement
   * replaces the stored one where it is less disturbed.
   *
   * @returns how many were replaced
   */
  async replaceWhileQuiet(tasks: readonly Task[]): Promise<number> {
    const { agent, store, signal, onEvent } = this.context;
    if (tasks.length === 0 || this.#retakeLimit.isReached || !this.#isQuiet || signal.aborted) return 0;
    const startMs = performance.now();
    const note = (message: string): void => onEvent({ kind: 'note', level: 'info', message });
    note(`taking ${tasks.length} of the stored measurements again, because other processes disturbed them`);
    let replaced = 0;
    const tell = this.#progress(tasks, { before: 0, total: tasks.length }, () => replaced);
    const requests = tasks.map(({ request }) => request);
    const onProgress = tell.running([...tasks.keys()]);
    try {
      for await (const { index, measurement } of agent.measure(requests, { signal, onProgress })) {
        const before = tasks[index] && this.results.get(tasks[index].request);
        if (before === undefined) continue;
        if (measurement.outcome.kind === 'samples' && disturbanceOf(measurement) < disturbanceOf(before)) {
          await store.putMeasurement(measurement);
          this.results.put(measurement);
          replaced++;
        }
        if (!isDisturbed(measurement)) continue;
        this.#isQuiet = false;
        note(`the machine is still busy: ${tasks.length - replaced} of them stay as they are`);
        break;
      }
    } catch (error) {
      if (!(error instanceof PlatformError && error.code === 'cancelled')) throw error;
    } finally {
      this.#wallMs += performance.now() - startMs;
    }
    return replaced;
  }

  #hasSamples({ request }: Task): boolean {
    return this.results.get(request)?.outcome.kind === 'samples';
  }

  /** Announces the current measurement. */
  #progress(tasks: readonly Task[], { before, total }: ProgressPosition, done: () => number) {
    const { onEvent } = this.context;
    let label = '';
    let toldMs = 0;
    const measuring = (detail?: string): void => {
      toldMs = performance.now();
      const text = detail === undefined ? label : `${label} (${detail})`;
      onEvent({ kind: 'measuring', done: before + done(), total, label: text });
    };
    return {
      running: (indices: readonly number[]) => {
        return (progress: { index: number; together: number; runsDone: number; runsTotal: number }): void => {
          const { index, together, runsDone, runsTotal } = progress;
          const of = tasks[indices[index] ?? 0]?.label ?? '';
          const session = together > 1 ? `${of} and ${together - 1} more bricks` : of;
          if (session !== label) {
            label = session;
            measuring();
          } else if (performance.now() - toldMs >= RUNNING_INTERVAL_MS) measuring(`run ${runsDone} of ${runsTotal}`);
        };
      },
      retaking: (measurements: number, disturbance: number): void => {
        const share = (disturbance * 100).toFixed(0);
        measuring(`${measurements} repeated: other processes took ${share} % of the processors`);
      },
    };
  }
}
