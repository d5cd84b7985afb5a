import type { Benchmark } from '../measurement/benchmark.js';
import type { Context, Measurement } from '../measurement/measurement.js';
import type { Limits, Protocol } from '../measurement/protocol.js';
import type { RunOptions } from '../measurement/system.js';
import type { RpcClientOptions } from '../rpc/client.js';
import type { InferredValue } from '../onnx/layers/layer-graph.js';
import type { TraceLevel } from '../tracing/trace-level.js';
import type { Ability, AgentDescription } from './agent-description.js';
import type { LayerTrace } from './layer-trace.js';
import type { RunValue } from './run-value.js';

export interface MeasureRequest {
  readonly benchmark: Benchmark;
  readonly name?: string | undefined;
  readonly runOptions: RunOptions;
  readonly protocol: Protocol;
  /** Each occasion needs another worker process. */
  readonly occasion: number;
  readonly limits: Limits;
  /** Context of a benchmark that is measured together with others in one session; absent for one in its own session. */
  readonly context?: Context | undefined;
  /** Bytes that the model touches in one run; the same for all of its bricks, which therefore run together. */
  readonly modelBytes?: number | undefined;
  readonly roughMs?: number | undefined;
}

export interface MeasuredRequest {
  readonly index: number;
  readonly measurement: Measurement;
  readonly isStored?: true | undefined;
}

export const MEASURE_PHASES = ['waiting', 'preparing', 'running'] as const;

export type MeasurePhase = (typeof MEASURE_PHASES)[number];

export interface MeasureProgress {
  readonly phase: MeasurePhase;
  readonly runsDone: number;
  /** Warm-ups included; fewer runs are made if the time budget is used up. */
  readonly runsTotal: number;
  readonly waitsFor?: number | undefined;
}

export interface RequestProgress extends MeasureProgress {
  readonly index: number;
  readonly together: number;
}

export interface OptimizedGraph {
  readonly benchmark: Benchmark;
  readonly values: ReadonlyMap<string, InferredValue>;
  /** Wall time, also where the result comes from a cache; of several at a time, its share. */
  readonly costMs: number;
}

export interface MeasureOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: RequestProgress) => void) | undefined;
}

export interface ValueOptions {
  /** Also returns the content of values that steer operators: runs the graph once, with the file's weights if any. */
  readonly steeringValues?: boolean | undefined;
}

export interface RunOnceOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether every value of the graph is described, and not only its outputs. The runtime can then fuse less. */
  readonly everyValue?: boolean;
  /** Elements of each value that are returned, at most. */
  readonly elements?: number;
}

export interface TraceOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: MeasureProgress) => void) | undefined;
}

export interface Reach {
  readonly address: string;
  readonly options: RpcClientOptions;
}

export interface MachineSpread {
  readonly machines: number;
  readonly benchmarks: number;
  /** Standard deviation between machines of the total time of these benchmarks, relative to its mean: 0.02 is 2 %. */
  readonly relative: number;
}

/**
 * Every method throws a PlatformError: `unavailable` where the agent does not answer or is another system than before,
 * `cancelled` after the signal, `usage` where the request is wrong in itself. A decorator is a copy with other methods.
 */
export interface BenchmarkAgent {
  readonly description: AgentDescription;

  /** Yields each measurement as soon as it is taken. A benchmark that fails gives one with a failure as its outcome. */
  measure(requests: readonly MeasureRequest[], options?: MeasureOptions): AsyncIterable<MeasuredRequest>;

  /** Makes spans, down to `level`, in the caller's trace. @throws PlatformError `unsupported` without a profile */
  trace(
    request: Omit<MeasureRequest, 'occasion' | 'context'>,
    level: TraceLevel,
    options?: TraceOptions,
  ): Promise<LayerTrace>;

  /** @throws PlatformError `unsupported` where the runtime refuses the graph, `model` where running it fails */
  inferTypes(
    benchmark: Benchmark,
    signal?: AbortSignal,
    options?: ValueOptions,
  ): Promise<ReadonlyMap<string, InferredValue>>;

  /** On another system, the graph may have other kernels. @throws PlatformError as {@link BenchmarkAgent.inferTypes} */
  optimize(
    benchmark: Benchmark,
    runOptions: RunOptions,
    signal?: AbortSignal,
    options?: ValueOptions,
  ): Promise<OptimizedGraph>;

  /** Describes what one run computes, by the names of values; leaves out values that are no tensors of numbers. */
  runOnce(
    benchmark: Benchmark,
    runOptions: RunOptions,
    options?: RunOnceOptions,
  ): Promise<ReadonlyMap<string, RunValue>>;

  /** Lets the agent read a file. @returns its handle for a benchmark's `weights`. Absent for an agent elsewhere. */
  readonly offerWeights?: (path: string) => string;

  /** How far machines that share the work differ; undefined where they have not been compared. */
  readonly machineSpread?: () => MachineSpread | undefined;

  /** The agents behind it; absent where there is none. @throws PlatformError `unsupported` without an ability */
  readonly reaches?: (...needed: readonly Ability[]) => readonly Reach[];

  close(): Promise<void>;
}
