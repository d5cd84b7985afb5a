import {
  type BenchmarkAgent,
  type Measurement,
  PlatformError,
  type ResultStore,
  type RunOptions,
} from '../../../src/plugin-api.js';
import { Patience, undisturbed } from './retake.js';
import type { Results, Task } from './plan.js';

/** Where an evaluation runs. */
export interface MeasuringContext {
  readonly agent: BenchmarkAgent;
  readonly store: ResultStore;
  /** Aborted: no further measurement starts, and what there is is composed. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: EstimateEvent) => void;
}

/** How far an evaluation is. */
export type EstimateEvent =
  | { readonly kind: 'preparing'; readonly model: string; readonly done: number; readonly total: number }
  | {
      readonly kind: 'planned';
      readonly layers: number;
      readonly unique: number;
      readonly known: number;
      readonly toMeasure: number;
    }
  | { readonly kind: 'repeating'; readonly bricks: number }
  | { readonly kind: 'measuring'; readonly label: string; readonly done: number; readonly total: number }
  | { readonly kind: 'disturbed'; readonly share: number }
  | { readonly kind: 'running'; readonly runsDone: number; readonly runsTotal: number }
  | { readonly kind: 'warning'; readonly message: string };

/** Where tasks stand in what is counted as one. */
export interface Position {
  readonly before: number;
  readonly total: number;
}

/** Measures until done or interrupted, each result stored at once. @returns how many were measured */
export async function measureAll(
  tasks: readonly Task[],
  results: Results,
  runOptions: RunOptions,
  { agent, store, signal, onEvent }: MeasuringContext,
  { before, total }: Position = { before: 0, total: tasks.length },
): Promise<number> {
  const patience = new Patience();
  for (const [done, { label, benchmark, protocol, optimizationLevel }] of tasks.entries()) {
    if (signal.aborted) return done;
    onEvent({ kind: 'measuring', label, done: before + done, total });
    let measurement: Measurement;
    try {
      const options = optimizationLevel === undefined ? runOptions : { ...runOptions, optimizationLevel };
      const onProgress = ({ runsDone, runsTotal }: { runsDone: number; runsTotal: number }): void =>
        onEvent({ kind: 'running', runsDone, runsTotal });
      const take = (): Promise<Measurement> => agent.measure(benchmark, options, protocol, { signal, onProgress });
      const onRetake = (share: number): void => onEvent({ kind: 'disturbed', share });
      measurement = await undisturbed(take, signal, { patience, onRetake });
    } catch (error) {
      if (error instanceof PlatformError && error.code === 'cancelled') return done;
      throw error;
    }
    await store.putMeasurement(measurement);
    results.put(measurement);
    if (measurement.outcome.kind === 'failure') {
      const { reason, message } = measurement.outcome;
      onEvent({ kind: 'warning', message: `${label}: ${reason}: ${message}` });
    }
  }
  return tasks.length;
}
