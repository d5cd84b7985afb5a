import { connectAgent } from '../src/agent/client/agent-client.js';
import { kernelTable } from '../src/agent/kernel-table.js';
import { toWireRunOptions } from '../src/agent/wire/benchmark-wire.js';
import { startAgent } from '../src/agent/services/server.js';
import type { Limits, Protocol } from '../src/measurement/protocol.js';
import { trimmedMean } from '../src/measurement/trimmed-mean.js';
import { weightlessBenchmark } from '../src/measurement/weightless.js';
import { bindDimensions } from '../src/onnx/layers/bind-dimensions.js';
import { requireTracing } from '../src/tracing/start-tracing.js';
import { activeTracing, traced } from '../src/tracing/tracing.js';
import { buildZooModel } from '../src/zoo/zoo.js';
import { BenchmarkServiceService } from '../src/generated/mlmodelscope/benchmark/v1/benchmark.js';
import { createRpcClient } from '../src/rpc/client.js';

export interface TracingBenchmark {
  /** Cost of a span in code that is traced, while tracing is off. */
  readonly offNs: number;
  /** The same while spans are made and kept. */
  readonly onNs: number;
  /** A call to an agent that does next to nothing, without tracing and with. */
  readonly callOffMs: number;
  readonly callOnMs: number;
  readonly model: string;
  readonly modelMs: number;
  /** Time that the runtime's profile adds to a run of the model. */
  readonly profileMs: number;
  readonly kernels: number;
}

const SPANS = 100_000;
const CALLS = 50;

const CALL_DEADLINE_MS = 10_000;

const { describeSystem } = BenchmarkServiceService;

const RUN_OPTIONS = { threads: 1, executionProvider: 'cpu', optimizationLevel: 'all' } as const;

const PROTOCOL: Protocol = {
  warmupRuns: 5,
  runs: 100,
  minRuns: 10,
  timeBudgetMs: 5000,
};

const LIMITS: Limits = { timeLimitMs: 60_000, memoryLimitBytes: 2 ** 33 };

/** Nanoseconds that a span adds to the same work. */
function spanNs(count: number): number {
  const spend = (make: (work: () => number) => number): number => {
    const start = process.hrtime.bigint();
    for (let i = 0; i < count; i++) make(() => i);
    return Number(process.hrtime.bigint() - start) / count;
  };
  const options = { level: 'APPLICATION_TRACE' } as const;
  const plain = (): number => spend((work) => work());
  const spanned = (): number => spend((work) => traced('span', options, work));
  // A warm-up, so that the compiler has seen both.
  [plain, spanned].forEach((run) => run());
  return Math.max(0, spanned() - plain());
}

/** The cost of tracing where it is off, where it is on, and inside of a model. Tracing stays on. */
export async function benchmarkTracing(model = 'mobilenet_v2'): Promise<TracingBenchmark> {
  if (activeTracing() !== undefined) throw new Error('tracing is on already');
  const agent = await startAgent();
  const client = await connectAgent(agent.address);
  const calls = createRpcClient(agent.address, 'agent');
  try {
    const benchmark = weightlessBenchmark(bindDimensions(buildZooModel(model), new Map(), { batch: 1 }));
    const callMs = async (): Promise<number> => {
      const samples: number[] = [];
      for (let i = 0; i < CALLS; i++) {
        const start = performance.now();
        await calls.unary(
          describeSystem,
          { runOptions: toWireRunOptions(RUN_OPTIONS) },
          { deadlineMs: CALL_DEADLINE_MS },
        );
        samples.push(performance.now() - start);
      }
      return trimmedMean(samples);
    };
    await callMs();
    const offNs = spanNs(SPANS);
    const callOffMs = await callMs();
    const tracing = await requireTracing({ serviceName: 'bench', environment: { OTEL_TRACES_EXPORTER: 'none' } });
    const inTrace = <T>(work: () => Promise<T>): Promise<T> => {
      return tracing.inSpan('bench', { level: 'APPLICATION_TRACE' }, work);
    };
    const onNs = spanNs(SPANS / 10);
    const callOnMs = await inTrace(callMs);
    const request = { benchmark, runOptions: RUN_OPTIONS, protocol: PROTOCOL, limits: LIMITS };
    const trace = await inTrace(() => client.trace(request, 'FRAMEWORK_TRACE'));
    const { modelMs, overheadMs, rows } = kernelTable(trace);
    return { offNs, onNs, callOffMs, callOnMs, model, modelMs, profileMs: overheadMs, kernels: rows.length };
  } finally {
    calls.close();
    await client.close();
    await agent.close();
  }
}
