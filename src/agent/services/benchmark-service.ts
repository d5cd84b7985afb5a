import type { handleServerStreamingCall, handleUnaryCall } from '@grpc/grpc-js';
import {
  BenchmarkServiceService,
  type DescribeSystemRequest,
  type DescribeSystemResponse,
  type InferTypesRequest,
  type InferTypesResponse,
  type MeasureRequest,
  type MeasureResponse,
  type OptimizeRequest,
  type OptimizeResponse,
} from '../../generated/mlmodelscope/benchmark/v1/benchmark.js';
import type { Framework } from '../../predictor/predictor.js';
import type { ActiveCalls } from '../../rpc/active-calls.js';
import { MAX_MESSAGE_BYTES } from '../../rpc/limits.js';
import type { RpcServer } from '../../rpc/server.js';
import type { MeasureProgress } from '../benchmark-agent.js';
import { defaultMemoryLimitBytes, describeSystem, type Machine } from './describe-system.js';
import { inferredOf, measuredOf, optimizedOf } from '../worker/job-end.js';
import type { WorkerRunner } from '../worker/worker-runner.js';
import {
  fromWireBenchmark,
  fromWireProtocol,
  fromWireRunOptions,
  toWireBenchmark,
  toWireMeasurement,
  toWireProgress,
  toWireSystem,
  toWireValues,
} from '../wire/benchmark-wire.js';

/** One run of a graph; what takes longer is not a graph to infer types of. */
const INFER_TYPES_LIMIT_MS = 5 * 60_000;

/** One session and one run. */
const OPTIMIZE_LIMIT_MS = 10 * 60_000;

export interface BenchmarkServiceOptions {
  readonly machine: Machine;
  readonly framework: Framework;
  readonly runner: WorkerRunner;
  readonly calls: ActiveCalls;
}

/** Adds the service that describes the system, infers types and measures. */
export function addBenchmarkService(server: RpcServer, options: BenchmarkServiceOptions): void {
  const { machine, framework, runner, calls } = options;

  const answerDescribeSystem: handleUnaryCall<DescribeSystemRequest, DescribeSystemResponse> = (call, callback) => {
    void calls.answer(call, callback, () => {
      const system = describeSystem(machine, framework, fromWireRunOptions(call.request.runOptions));
      return { system: toWireSystem(system) };
    });
  };

  const answerInferTypes: handleUnaryCall<InferTypesRequest, InferTypesResponse> = (call, callback) => {
    void calls.answer(call, callback, async (signal) => {
      const benchmark = fromWireBenchmark(call.request.benchmark);
      const memoryLimitBytes = defaultMemoryLimitBytes(machine);
      const limits = { timeLimitMs: INFER_TYPES_LIMIT_MS, memoryLimitBytes };
      const end = await runner.run({ kind: 'infer-types', benchmark, memoryLimitBytes }, limits, { signal });
      return { values: toWireValues(inferredOf(end)) };
    });
  };

  const answerOptimize: handleUnaryCall<OptimizeRequest, OptimizeResponse> = (call, callback) => {
    void calls.answer(call, callback, async (signal) => {
      const request = call.request;
      const benchmark = fromWireBenchmark(request.benchmark);
      const runOptions = fromWireRunOptions(request.runOptions);
      const memoryLimitBytes = defaultMemoryLimitBytes(machine);
      const limits = { timeLimitMs: OPTIMIZE_LIMIT_MS, memoryLimitBytes };
      const job = { kind: 'optimize', benchmark, runOptions, memoryLimitBytes } as const;
      const optimized = optimizedOf(await runner.run(job, limits, { signal }));
      return { benchmark: toWireBenchmark(optimized.benchmark), values: toWireValues(optimized.values) };
    });
  };

  const answerMeasure: handleServerStreamingCall<MeasureRequest, MeasureResponse> = (call) => {
    void calls.stream(call, async (signal) => {
      const request = call.request;
      const benchmark = fromWireBenchmark(request.benchmark);
      const runOptions = fromWireRunOptions(request.runOptions);
      const plan = fromWireProtocol(request.protocol, defaultMemoryLimitBytes(machine));
      const onProgress = (progress: MeasureProgress): void => {
        // Who does not read has no use for it either.
        if (signal.aborted || call.writableNeedDrain) return;
        call.write({ event: { $case: 'progress', value: toWireProgress(progress) } });
      };
      const onWaiting = (): void => {
        onProgress({ phase: 'waiting', runsDone: 0, runsTotal: plan.warmupRuns + plan.runs });
      };
      const job = { kind: 'measure', benchmark, runOptions, plan } as const;
      const measured = measuredOf(await runner.run(job, plan, { signal, onProgress, onWaiting }));
      const system = describeSystem(machine, framework, runOptions);
      const measurement = toWireMeasurement(benchmark.signature, measured, system);
      call.write({ event: { $case: 'measurement', value: measurement } });
    });
  };

  const answers = {
    describeSystem: answerDescribeSystem,
    inferTypes: answerInferTypes,
    optimize: answerOptimize,
    measure: answerMeasure,
  };
  const maxRequestBytes = {
    inferTypes: MAX_MESSAGE_BYTES,
    optimize: MAX_MESSAGE_BYTES,
    measure: MAX_MESSAGE_BYTES,
  };
  server.addService(BenchmarkServiceService, answers, { maxRequestBytes });
}
