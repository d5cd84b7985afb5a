import {
  type BenchmarkAgent,
  type EvaluationEvent,
  type MeasuredRequest,
  PlatformError,
  type ResultStore,
} from '../../../src/plugin-api.js';
import type { KnownResults } from './results.js';
import { RetakeLimit, undisturbed } from './retake.js';
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
    try {
      for await (const { index, measurement } of undisturbed([...tasks.keys()], take, retaking)) {
        await store.putMeasurement(measurement);
        this.results.put(measurement);
        measured.add(index);
        if (measurement.outcome.kind === 'failure') {
          const { reason, message } = measurement.outcome;
          onEvent({ kind: 'note', level: 'warning', message: `${tasks[index]?.label ?? ''}: ${reason}: ${message}` });
        }
      }
    } catch (error) {
      if (!(error instanceof PlatformError && error.code === 'cancelled')) throw error;
    } finally {
      this.#wallMs += performance.now() - startMs;
    }
    return measured.size;
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
