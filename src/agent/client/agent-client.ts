import { messageOf, PlatformError } from '../../base/errors.js';
import { BenchmarkServiceService, type Measurement } from '../../generated/mlmodelscope/benchmark/v1/benchmark.js';
import { TraceServiceService } from '../../generated/mlmodelscope/trace/v1/trace.js';
import { createRpcClient, type RpcClientOptions } from '../../rpc/client.js';
import type { BenchmarkAgent, MeasureOptions } from '../benchmark-agent.js';
import type { LayerTrace } from '../layer-trace.js';
import { TakenTraces } from './taken-traces.js';
import { fromWireLayerTrace, toWireLevel } from '../wire/trace-wire.js';
import * as wire from '../wire/benchmark-wire.js';

const { describeSystem, inferTypes, measure, optimize } = BenchmarkServiceService;
const { traceBenchmark } = TraceServiceService;

const DESCRIBE_DEADLINE_MS = 10_000;

/** Waiting for a turn behind other clients' measurements included. */
const INFER_TYPES_DEADLINE_MS = 30 * 60_000;

const OPTIMIZE_DEADLINE_MS = INFER_TYPES_DEADLINE_MS;

/** Waiting for its turn, on top of the measurement's own time limit. */
const MEASURE_WAIT_MS = 12 * 3600_000;

/**
 * An agent behind an address, host:port. Connects with the first request.
 *
 * Beyond {@link BenchmarkAgent}: `internal` where the agent answers with something that makes no sense, and
 * `unauthenticated` where it wants another token.
 */
export function connectAgent(address: string, clientOptions?: RpcClientOptions): BenchmarkAgent {
  const client = createRpcClient(address, 'agent', clientOptions);
  const traces = new TakenTraces();

  /** What is wrong with an answer is not the caller's fault. */
  function understand<T>(convert: () => T): T {
    try {
      return convert();
    } catch (cause) {
      const message = `the agent at ${address} answers with something that this version does not understand`;
      throw new PlatformError('internal', `${message}: ${messageOf(cause)}`, { cause });
    }
  }

  async function callMeasure(
    request: Parameters<typeof measure.requestSerialize>[0],
    deadlineMs: number,
    { signal, onProgress }: MeasureOptions,
  ): Promise<Measurement> {
    let measurement: Measurement | undefined;
    for await (const { event } of client.stream(measure, request, { deadlineMs, signal })) {
      if (event?.$case === 'measurement') measurement = event.value;
      const progress = event?.$case === 'progress' ? wire.fromWireProgress(event.value) : undefined;
      if (progress !== undefined) onProgress?.(progress);
    }
    if (measurement !== undefined) return measurement;
    throw new PlatformError('internal', `the agent at ${address} ended a measurement without a result`);
  }

  return traces.ofEveryCall({
    async system(runOptions) {
      const response = await client.unary(describeSystem, { runOptions }, { deadlineMs: DESCRIBE_DEADLINE_MS });
      return understand(() => wire.fromWireSystem(response.system));
    },

    async measure(benchmark, runOptions, protocol, options = {}) {
      const request = {
        benchmark: wire.toWireBenchmark(benchmark),
        runOptions,
        protocol: wire.toWireProtocol(protocol),
      };
      const measurement = await callMeasure(request, protocol.timeLimitMs + MEASURE_WAIT_MS, options);
      const measuredAt = new Date().toISOString();
      return understand(() => wire.fromWireMeasurement(measurement, protocol, measuredAt));
    },

    async trace(benchmark, runOptions, protocol, level, { signal, onProgress } = {}) {
      const request = {
        benchmark: wire.toWireBenchmark(benchmark),
        runOptions,
        protocol: wire.toWireProtocol(protocol),
        level: toWireLevel(level),
      };
      const deadlineMs = 2 * protocol.timeLimitMs + MEASURE_WAIT_MS;
      let trace: LayerTrace | undefined;
      for await (const { event } of client.stream(traceBenchmark, request, { deadlineMs, signal })) {
        const progress = event?.$case === 'progress' ? wire.fromWireProgress(event.value) : undefined;
        if (progress !== undefined) onProgress?.(progress);
        if (event?.$case === 'trace') trace = understand(() => fromWireLayerTrace(event.value));
      }
      if (trace !== undefined) return trace;
      throw new PlatformError('internal', `the agent at ${address} ended a trace without a result`);
    },

    async inferTypes(benchmark, signal) {
      const request = { benchmark: wire.toWireBenchmark(benchmark) };
      const response = await client.unary(inferTypes, request, { signal, deadlineMs: INFER_TYPES_DEADLINE_MS });
      return understand(() => wire.fromWireValues(response.values));
    },

    async optimize(benchmark, runOptions, signal) {
      const request = { benchmark: wire.toWireBenchmark(benchmark), runOptions };
      const response = await client.unary(optimize, request, { signal, deadlineMs: OPTIMIZE_DEADLINE_MS });
      return understand(() => ({
        benchmark: wire.fromWireBenchmark(response.benchmark),
        values: wire.fromWireValues(response.values),
      }));
    },

    async close() {
      await traces.take(client);
      client.close();
    },
  });
}
