import type { ErrorCode } from '../../base/errors.js';
import type { Benchmark } from '../../measurement/benchmark.js';
import type { Conditions } from '../../measurement/conditions.js';
import type { Outcome } from '../../measurement/measurement.js';
import type { Limits, Protocol } from '../../measurement/protocol.js';
import type { RunOptions } from '../../measurement/system.js';
import type { TimedSpan } from '../../tracing/span.js';
import type { TraceLevel } from '../../tracing/trace-level.js';
import type { PredictionModel } from '../../registry/prediction-model.js';
import type { InferredValue, MeasureProgress, OptimizedGraph } from '../benchmark-agent.js';
import type { LayerTrace } from '../layer-trace.js';
import type { PredictBatch, Predicted } from './predict-session.js';

/** The worker process's end of the pipe by which it notices that the agent is gone; see lifeline.ts. */
export const LIFELINE_FILE_DESCRIPTOR = 4;

export interface MeasureJob {
  readonly kind: 'measure';
  readonly benchmark: Benchmark;
  readonly runOptions: RunOptions;
  readonly protocol: Protocol;
  readonly occasion: number;
  readonly limits: Limits;
}

/** Measures bricks in one graph; see measure-bricks.ts. */
export interface MeasureBricksJob extends Omit<MeasureJob, 'kind' | 'benchmark'> {
  readonly kind: 'measure-bricks';
  readonly bricks: readonly Benchmark[];
  /** Bytes to be read besides in every run. */
  readonly paddingBytes: number;
}

export interface InferTypesJob {
  readonly kind: 'infer-types';
  readonly benchmark: Benchmark;
  readonly memoryLimitBytes: number;
}

export interface OptimizeJob {
  readonly kind: 'optimize';
  readonly benchmark: Benchmark;
  readonly runOptions: RunOptions;
  readonly memoryLimitBytes: number;
}

/** Measures what a model's runs are made of; see trace-benchmark.ts. */
export interface TraceJob {
  readonly kind: 'trace';
  readonly benchmark: Benchmark;
  readonly runOptions: RunOptions;
  readonly protocol: Protocol;
  readonly limits: Limits;
}

/** Opens a model that then stays open as long as the process. */
export interface OpenJob {
  readonly kind: 'open';
  readonly model: PredictionModel;
  readonly runOptions: RunOptions;
}

/** Predicts with the model that is open. */
export interface PredictJob {
  readonly kind: 'predict';
  readonly batch: PredictBatch;
}

/** What a worker process is for, one at a time. */
export type WorkerJob = MeasureJob | MeasureBricksJob | TraceJob | InferTypesJob | OptimizeJob | OpenJob | PredictJob;

/** Threads of the session in which a job runs its graph: inferring types, which optimizing does too, takes one. */
export function threadsOf(job: WorkerJob): number {
  switch (job.kind) {
    case 'measure':
    case 'measure-bricks':
    case 'trace':
    case 'open':
      return job.runOptions.threads;
    case 'infer-types':
    case 'optimize':
    case 'predict':
      return 1;
  }
}

/** What a job measures on; undefined for one that measures nothing that counts. */
export function occasionOf(job: WorkerJob): number | undefined {
  return job.kind === 'measure' || job.kind === 'measure-bricks' ? job.occasion : undefined;
}

/** What a measurement is without the system that it was taken on and the time at which. */
export interface Measured {
  readonly outcome: Outcome;
  readonly costMs: number;
  readonly sessionMs: number;
  readonly peakMemoryBytes: number;
  /** undefined where the machine does not tell, or the process did not live to. */
  readonly conditions?: Conditions | undefined;
}

/** How a job ended. `rejected`: it was wrong in itself, or the machine is, so that nothing was measured. */
export type JobResult =
  | { readonly kind: 'measured'; readonly measured: Measured }
  | { readonly kind: 'measured-bricks'; readonly measured: readonly Measured[] }
  | { readonly kind: 'traced'; readonly trace: LayerTrace }
  | { readonly kind: 'inferred'; readonly values: ReadonlyMap<string, InferredValue> }
  | { readonly kind: 'optimized'; readonly optimized: Omit<OptimizedGraph, 'costMs'> }
  | { readonly kind: 'opened' }
  | { readonly kind: 'predicted'; readonly predicted: Predicted }
  | { readonly kind: 'rejected'; readonly code: ErrorCode; readonly message: string };

/** What the agent sends to a worker process. */
export interface Assignment {
  readonly job: WorkerJob;
  /** How deep the job is traced. */
  readonly traceLevel: TraceLevel;
}

/** What a worker process sends to the agent. */
export type WorkerMessage =
  | { readonly kind: 'ready'; readonly residentBytes: number }
  | { readonly kind: 'progress'; readonly progress: MeasureProgress }
  | {
      readonly kind: 'result';
      readonly result: JobResult;
      /** What the job was made of, as far as it is traced. */
      readonly spans: readonly TimedSpan[];
      readonly residentBytes: number;
    };
