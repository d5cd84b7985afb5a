import {
  type BenchmarkServiceServer,
  BenchmarkServiceService,
  type MeasureRequest,
} from '../../generated/mlmodelscope/benchmark/v1/benchmark.js';
import { PlatformError } from '../../base/errors.js';
import { type Benchmark, inputBytes } from '../../measurement/benchmark.js';
import type { Limits } from '../../measurement/protocol.js';
import { MAX_MESSAGE_BYTES } from '../../rpc/limits.js';
import type { RpcServer } from '../../rpc/server.js';
import type { MeasureProgress, RequestProgress } from '../benchmark-agent.js';
import { noProfile } from '../failure.js';
import { type AgentDescription, isAbleTo } from '../agent-description.js';
import { toWireDescription } from '../wire/description-wire.js';
import { defaultMemoryLimitBytes } from './describe-machine.js';
import { measureTogether } from './measure-together.js';
import { endedAs, buildMeasured, optimizedGraph } from '../worker/job-end.js';
import type { WorkerRunner } from '../worker/worker-runner.js';
import {
  fromWireBenchmark,
  fromWireBrick,
  fromWireProtocol,
  fromWireRunOptions,
  toWireMeasurement,
  toWireOptimized,
  toWireProgress,
  toWireRunValues,
  toWireValues,
} from '../wire/benchmark-wire.js';

const INFER_TYPES_LIMIT_MS = 5 * 60_000;

const OPTIMIZE_LIMIT_MS = 10 * 60_000;

const MAX_NAME_CHARACTERS = 1000;

/** Share of the memory limit for the inputs of all graphs that are optimized or typed beside each other. */
const SHARE_BESIDE = 1 / 8;

export interface BenchmarkServiceOptions {
  readonly description: AgentDescription;
  readonly runner: WorkerRunner;
  readonly weightFiles: ReadonlyMap<string, string>;
}

/** @throws PlatformError `usage` for an unknown handle */
export function withWeightFile(benchmark: Benchmark, weightFiles: ReadonlyMap<string, string>): Benchmark {
  if (benchmark.weights === undefined) return benchmark;
  const weights = weightFiles.get(benchmark.weights);
  if (weights !== undefined) return { ...benchmark, weights };
  throw new PlatformError('usage', "this agent has no file with the benchmark's weights; leave `weights` empty");
}

export function addBenchmarkService(server: RpcServer, options: BenchmarkServiceOptions): void {
  const { description, runner, weightFiles } = options;
  const { calls } = server;
  const memoryLimitBytes = defaultMemoryLimitBytes(description);
  const within = (timeLimitMs: number): Limits => ({ timeLimitMs, memoryLimitBytes });
  /** Whether other graphs may be optimized or typed beside this one; else it may take all memory of the limit. */
  const leavesRoom = ({ inputs }: Benchmark): boolean => {
    return inputBytes(inputs) <= (memoryLimitBytes * SHARE_BESIDE) / description.cores;
  };
  const benchmarkIn = (request: Pick<MeasureRequest, 'benchmark'>): Benchmark => {
    return withWeightFile(fromWireBenchmark(request.benchmark), weightFiles);
  };

  const answers = {
    describeSystem: calls.unary((call) => {
      return toWireDescription(description, fromWireRunOptions(call.request.runOptions));
    }),
    inferTypes: calls.unary(async ({ request }, signal) => {
      const benchmark = benchmarkIn(request);
      const { steeringValues } = request;
      const job = { kind: 'infer-types', benchmark, memoryLimitBytes, steeringValues } as const;
      const options = { signal, untimed: leavesRoom(benchmark) };
      const { end } = await runner.run(job, within(INFER_TYPES_LIMIT_MS), options);
      return { values: toWireValues(endedAs(end, 'inferred').values) };
    }),
    optimize: calls.unary(async ({ request }, signal) => {
      const benchmark = benchmarkIn(request);
      const runOptions = fromWireRunOptions(request.runOptions);
      const { steeringValues } = request;
      const job = { kind: 'optimize', benchmark, runOptions, memoryLimitBytes, steeringValues } as const;
      const options = { signal, untimed: leavesRoom(benchmark) };
      const { end, shareMs } = await runner.run(job, within(OPTIMIZE_LIMIT_MS), options);
      return toWireOptimized(optimizedGraph(end, shareMs));
    }),
    runOnce: calls.unary(async ({ request }, signal) => {
      const benchmark = benchmarkIn(request);
      const runOptions = fromWireRunOptions(request.runOptions);
      const { everyValue, elements } = request;
      const job = { kind: 'run-once', benchmark, runOptions, memoryLimitBytes, everyValue, elements } as const;
      const { end } = await runner.run(job, within(OPTIMIZE_LIMIT_MS), { signal });
      return { values: toWireRunValues(endedAs(end, 'ran-once').values) };
    }),
    measure: calls.streaming(async (call, signal) => {
      const { request } = call;
      const benchmark = benchmarkIn(request);
      const runOptions = fromWireRunOptions(request.runOptions);
      const setup = fromWireProtocol(request.protocol, memoryLimitBytes);
      const onProgress = (progress: MeasureProgress): void => calls.tell(call, toWireProgress(progress), signal);
      const name = request.name?.slice(0, MAX_NAME_CHARACTERS);
      const job = { kind: 'measure', benchmark, name, runOptions, ...setup } as const;
      const { end } = await runner.run(job, setup.limits, { signal, onProgress });
      for (const measured of buildMeasured(end, 1)) {
        call.write({ event: { $case: 'measurement', value: toWireMeasurement(benchmark.signature, measured) } });
      }
    }),
    measureBricks: calls.streaming(async (call, signal) => {
      if (!isAbleTo(description, 'measure_bricks')) {
        throw noProfile({ name: description.framework, version: description.frameworkVersion });
      }
      const { request } = call;
      const runOptions = fromWireRunOptions(request.runOptions);
      const setup = fromWireProtocol(request.protocol, memoryLimitBytes);
      const bricks = request.bricks.map(fromWireBrick);
      const onProgress = (progress: RequestProgress): void => calls.tell(call, toWireProgress(progress), signal);
      const options = { signal, onProgress };
      const all = measureTogether(bricks, { runOptions, ...setup }, runner, description.cacheBytes, options);
      for await (const { index, measured } of all) {
        const measurement = toWireMeasurement(bricks[index]?.benchmark.signature ?? '', measured);
        call.write({ event: { $case: 'measurement', value: { brick: index, measurement } } });
      }
    }),
  } satisfies BenchmarkServiceServer;
  const maxRequestBytes = {
    inferTypes: MAX_MESSAGE_BYTES,
    optimize: MAX_MESSAGE_BYTES,
    runOnce: MAX_MESSAGE_BYTES,
    measure: MAX_MESSAGE_BYTES,
    measureBricks: MAX_MESSAGE_BYTES,
  };
  server.addService(BenchmarkServiceService, answers, { maxRequestBytes });
}
