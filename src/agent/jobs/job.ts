import type { ErrorCode } from '../../base/errors.js';
import type { CompositePlan } from '../../composite/plan-composites.js';
import type { Benchmark } from '../../measurement/benchmark.js';
import type { Measurement } from '../../measurement/measurement.js';
import { protocolOfComposite } from '../../composite/protocol-of-composite.js';
import type { Protocol } from '../../measurement/protocol.js';
import type { Batching } from '../../load/batcher.js';
import type { RunOptions } from '../../measurement/system.js';
import type { TimedSpan } from '../../tracing/span.js';
import type { TraceLevel } from '../../tracing/trace-level.js';
import type { PredictionModel } from '../../registry/prediction-model.js';
import type { MeasureProgress, MeasureRequest, OptimizedGraph } from '../benchmark-agent.js';
import type { InferredValue } from '../../onnx/layers/layer-graph.js';
import type { LayerTrace } from '../layer-trace.js';
import type { RunValue } from '../run-value.js';
import type { PredictBatch, Predicted } from './predict-session.js';

/** The worker process's end of the pipe that closes when the agent ends; see lifeline.ts. */
export const LIFELINE_FILE_DESCRIPTOR = 4;

export interface MeasureJob extends Omit<MeasureRequest, 'context' | 'modelBytes' | 'roughMs'> {
  readonly kind: 'measure';
}

export interface MeasureBricksJob
  extends Pick<MeasureRequest, 'runOptions' | 'protocol' | 'occasion' | 'limits'>, Omit<CompositePlan, 'bricks'> {
  readonly kind: 'measure-bricks';
  readonly bricks: readonly Benchmark[];
}

export interface InferTypesJob {
  readonly kind: 'infer-types';
  readonly benchmark: Benchmark;
  readonly memoryLimitBytes: number;
  readonly steeringValues?: boolean | undefined;
}

export interface OptimizeJob extends Omit<InferTypesJob, 'kind'> {
  readonly kind: 'optimize';
  readonly runOptions: RunOptions;
}

export interface RunOnceJob extends Omit<OptimizeJob, 'kind' | 'steeringValues'> {
  readonly kind: 'run-once';
  readonly everyValue: boolean;
  /** Elements of each value to return, at most. */
  readonly elements: number;
}

export interface TraceJob extends Pick<MeasureRequest, 'benchmark' | 'runOptions' | 'protocol' | 'limits'> {
  readonly kind: 'trace';
}

export interface OpenJob {
  readonly kind: 'open';
  readonly model: PredictionModel;
  readonly runOptions: RunOptions;
}

export interface PredictJob {
  readonly kind: 'predict';
  readonly batch: PredictBatch;
}

/** Answers queries until it is told to end; see serve-queries.ts. */
export interface ServeJob {
  readonly kind: 'serve';
  /** The model for each size of a run. */
  readonly models: ReadonlyMap<number, Benchmark>;
  readonly name: string;
  readonly runOptions: RunOptions;
  readonly batching: Batching;
  readonly warmupRuns: number;
  readonly memoryLimitBytes: number;
}

export interface ServedQuery {
  readonly id: number;
  readonly samples: number;
  /** By the machine's monotonic clock. A worker takes a query up only after the run meanwhile. */
  readonly receivedNs: bigint;
}

/** Moments are nanoseconds of the machine's monotonic clock. */
export interface ServedAnswer {
  readonly id: number;
  readonly startedNs: bigint;
  readonly finishedNs: bigint;
  readonly batch: number;
  /** Empty where the run did not fail. */
  readonly error: string;
}

export type ServingMessage =
  { readonly kind: 'queries'; readonly queries: readonly ServedQuery[] } | { readonly kind: 'end' };

export type WorkerJob =
  ServeJob | MeasureJob | MeasureBricksJob | TraceJob | InferTypesJob | OptimizeJob | RunOnceJob | OpenJob | PredictJob;

/** Threads of the session in which a job runs its graph. Inferring types takes one; optimizing infers types as well. */
export function threadsOf(job: WorkerJob): number {
  return 'runOptions' in job && job.kind !== 'optimize' ? job.runOptions.threads : 1;
}

/** Whether the result of a job is a time, which other work on the machine disturbs. */
export function isTimed(job: WorkerJob): boolean {
  return ['measure', 'measure-bricks', 'trace', 'serve'].includes(job.kind);
}

function countRuns({ warmupRuns, runs }: Protocol): number {
  return warmupRuns + runs;
}

/** Runs that a job makes at most; 0 where it times none, or as many as it is asked for. */
export function plannedRuns(job: WorkerJob): number {
  if (job.kind === 'measure') return countRuns(job.protocol);
  if (job.kind === 'measure-bricks') return countRuns(protocolOfComposite(job.protocol));
  return job.kind === 'trace' ? 2 * countRuns(job.protocol) : 0;
}

/** The job has not begun. @param waitsFor the process that measures on this machine, once it is known */
export function waitingProgress(job: WorkerJob, waitsFor?: number): MeasureProgress {
  return { phase: 'waiting', runsDone: 0, runsTotal: plannedRuns(job), waitsFor };
}

export function occasionOf(job: WorkerJob): number | undefined {
  return job.kind === 'measure' || job.kind === 'measure-bricks' ? job.occasion : undefined;
}

/** Without conditions where the process ended early. */
export type Measured = Readonly<
  Pick<Measurement, 'outcome' | 'costMs' | 'sessionMs' | 'peakMemoryBytes' | 'conditions'>
>;

/** How a job ended. `rejected`: the request was wrong or the machine failed, so nothing was measured. */
export type JobResult =
  | { readonly kind: 'measured'; readonly measured: readonly Measured[] }
  | { readonly kind: 'traced'; readonly trace: LayerTrace }
  | { readonly kind: 'inferred'; readonly values: ReadonlyMap<string, InferredValue> }
  | {
      readonly kind: 'optimized';
      readonly optimized: Omit<OptimizedGraph, 'costMs'>;
      readonly processorMs: number;
    }
  | { readonly kind: 'ran-once'; readonly values: ReadonlyMap<string, RunValue> }
  | { readonly kind: 'opened' }
  | { readonly kind: 'served'; readonly served: Pick<Measured, 'conditions' | 'peakMemoryBytes'> }
  | { readonly kind: 'predicted'; readonly predicted: Predicted }
  | { readonly kind: 'rejected'; readonly code: ErrorCode; readonly message: string };

export interface Assignment {
  readonly job: WorkerJob;
  readonly traceLevel: TraceLevel;
  /** The fastest probe that the agent knows; see core-probe.ts. */
  readonly fastestProbeNs: number | undefined;
}

export type WorkerMessage =
  | { readonly kind: 'ready'; readonly residentBytes: number }
  | { readonly kind: 'begun' }
  | { readonly kind: 'serving' }
  | { readonly kind: 'answers'; readonly answers: readonly ServedAnswer[] }
  | { readonly kind: 'progress'; readonly progress: MeasureProgress }
  | {
      readonly kind: 'result';
      readonly result: JobResult;
      readonly spans: readonly TimedSpan[];
      readonly residentBytes: number;
      /** The fastest probe that the process knows; undefined before the first one. */
      readonly fastestProbeNs: number | undefined;
    };
