import type { Benchmark } from '../measurement/benchmark.js';
import type { Measurement } from '../measurement/measurement.js';
import type { Protocol } from '../measurement/protocol.js';
import type { RunOptions, System } from '../measurement/system.js';
import type { TensorType } from '../onnx/model.js';
import type { TraceLevel } from '../tracing/trace-level.js';
import type { LayerTrace } from './layer-trace.js';

export type MeasurePhase = 'waiting' | 'preparing' | 'running';

export interface MeasureProgress {
  readonly phase: MeasurePhase;
  /** Warm-ups included. */
  readonly runsDone: number;
  /** Warm-ups included; fewer are made when the time budget is used up. */
  readonly runsTotal: number;
}

/** What running a graph showed about one of its values. */
export interface InferredValue extends TensorType {
  /** Little-endian, as in TensorProto.raw_data; only of integer and boolean values of up to 1024 elements, and others of up to 16. */
  readonly content?: Uint8Array;
  /** Range of an integer value with more elements. */
  readonly minimum?: bigint;
  readonly maximum?: bigint;
}

/** A graph as the runtime executes it. */
export interface OptimizedGraph {
  /** Again without weights. */
  readonly benchmark: Benchmark;
  /** Types of what its nodes produce, by name. */
  readonly values: ReadonlyMap<string, InferredValue>;
}

export interface MeasureOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: MeasureProgress) => void) | undefined;
}

/**
 * A machine that measures, wherever it is. Every method throws a PlatformError: `unavailable` where the agent does not
 * answer, `cancelled` after the signal, `usage` where the request is wrong in itself.
 */
export interface BenchmarkAgent {
  /** The system that measurements with these run options are taken on. */
  system(runOptions: RunOptions): Promise<System>;

  /**
   * Measures when it is this benchmark's turn. A benchmark that fails (unsupported operator, out of memory, crash, time
   * limit) resolves to a measurement with a failure as its outcome.
   */
  measure(
    benchmark: Benchmark,
    runOptions: RunOptions,
    protocol: Protocol,
    options?: MeasureOptions,
  ): Promise<Measurement>;

  /**
   * Runs a benchmark without and with the runtime's own profile, as often as the protocol says each. The spans of it
   * are made where the agent is, in the trace of the caller, down to `level`.
   *
   * @throws PlatformError as {@link BenchmarkAgent.inferTypes}, and `unsupported` where the runtime keeps no profile
   */
  trace(
    benchmark: Benchmark,
    runOptions: RunOptions,
    protocol: Protocol,
    level: TraceLevel,
    options?: MeasureOptions,
  ): Promise<LayerTrace>;

  /**
   * Element type and dimensions of every tensor that a node of the graph produces, by name.
   *
   * @throws PlatformError `unsupported` where the runtime refuses the graph, `model` where running it fails
   */
  inferTypes(benchmark: Benchmark, signal?: AbortSignal): Promise<ReadonlyMap<string, InferredValue>>;

  /**
   * The graph after the runtime's own optimizer with these run options. It depends on the system: on another one, other
   * kernels may come out.
   *
   * @throws PlatformError as {@link BenchmarkAgent.inferTypes}
   */
  optimize(benchmark: Benchmark, runOptions: RunOptions, signal?: AbortSignal): Promise<OptimizedGraph>;

  close(): Promise<void>;
}
