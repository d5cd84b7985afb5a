import { PlatformError } from '../../base/errors.js';
import { BenchmarkServiceService, type Measurement } from '../../generated/mlmodelscope/benchmark/v1/benchmark.js';
import { TraceServiceService } from '../../generated/mlmodelscope/trace/v1/trace.js';
import { createRpcClient, type RpcClient, type RpcClientOptions } from '../../rpc/client.js';
import {
  type Ability,
  type AgentDescription,
  differencesBetween,
  isAbleTo,
  otherSystem,
} from '../agent-description.js';
import type {
  BenchmarkAgent,
  MeasuredRequest,
  MeasureOptions,
  MeasureRequest,
  RequestProgress,
} from '../benchmark-agent.js';
import type { LayerTrace } from '../layer-trace.js';
import { resultsIn } from './answer-limit.js';
import { type Numbered, requestsTogether } from './requests-together.js';
import { fromWireLayerTrace, fromWireSpan, toWireLevel } from '../wire/trace-wire.js';
import { activeTracing } from '../../tracing/tracing.js';
import { ANY_RUN, areCommonOptions, identifySystem, type RunOptions } from '../../measurement/system.js';
import { fromWireDescription, fromWireSystem } from '../wire/description-wire.js';
import * as wire from '../wire/benchmark-wire.js';

const { describeSystem, inferTypes, measure, measureBricks, optimize, runOnce } = BenchmarkServiceService;
const { takeSpans, traceBenchmark } = TraceServiceService;

const DESCRIBE_DEADLINE_MS = 10_000;

/** The time limit of a call, with waiting behind other clients' measurements. */
const INFER_TYPES_DEADLINE_MS = 30 * 60_000;

const OPTIMIZE_DEADLINE_MS = INFER_TYPES_DEADLINE_MS;

/** Waiting for its turn, on top of the measurement's own time limit. */
const MEASURE_WAIT_MS = 12 * 3600_000;

const LACKING: Readonly<Record<Ability, string>> = {
  infer_types: 'infers no types of values; use a model whose file states them',
  optimize: 'returns no optimized graphs; use --cut layer',
  measure_bricks: 'keeps no profile of kernels, and measures no bricks together',
  trace: 'keeps no profile of kernels, and traces none',
  settings: 'is of a version that knows no execution mode and no keys of a session; install this version there',
  load: 'is of a version without load runs; install this version there',
  run_once: 'is of a version that returns no outputs; install this version there',
};

function toWireRun({ benchmark, runOptions }: Pick<MeasureRequest, 'benchmark' | 'runOptions'>) {
  return { benchmark: wire.toWireBenchmark(benchmark), runOptions: wire.toWireRunOptions(runOptions) };
}

/**
 * After a lost connection, the description is fetched again: an agent that is another system than before gets no call.
 *
 * @throws PlatformError `internal` where the agent's answer is invalid, `unauthenticated` for another token
 */
export async function connectAgent(address: string, clientOptions?: RpcClientOptions): Promise<BenchmarkAgent> {
  const client = createRpcClient(address, 'agent', clientOptions);
  const traceIds = new Set<string>();
  let isSame = false;

  function rememberTrace(): void {
    const traceId = activeTracing()?.traceId();
    if (traceId !== undefined) traceIds.add(traceId);
  }

  async function describe(): Promise<AgentDescription> {
    const answer = await client.unary(
      describeSystem,
      { runOptions: wire.toWireRunOptions(ANY_RUN) },
      { deadlineMs: DESCRIBE_DEADLINE_MS },
    );
    isSame = true;
    client.onceDisconnected(() => (isSame = false));
    return client.decodeAnswer(() => fromWireDescription(answer, address));
  }

  const description = await describe().catch((error: unknown) => {
    client.close();
    throw error;
  });

  function requireAbilities(needed: readonly Ability[]): void {
    const lacking = needed.find((ability) => !isAbleTo(description, ability));
    if (lacking === undefined) return;
    const { framework, frameworkVersion } = description;
    const agent = `the agent at ${address} (${framework} ${frameworkVersion})`;
    throw new PlatformError('unsupported', `${agent} ${LACKING[lacking]}`);
  }

  /** Called before each call of the agent. @throws PlatformError `unsupported` where it lacks an ability */
  async function prepare(runOptions: RunOptions, ...needed: readonly Ability[]): Promise<void> {
    rememberTrace();
    requireAbilities(areCommonOptions(runOptions) ? needed : [...needed, 'settings']);
    if (isSame) return;
    const differences = differencesBetween(description, await describe());
    if (differences.length === 0) return;
    isSame = false;
    throw otherSystem(address, differences);
  }

  function decodeMeasurement(
    message: Measurement | undefined,
    request: MeasureRequest,
  ): MeasuredRequest['measurement'] {
    if (message === undefined) {
      throw new PlatformError('internal', `the agent at ${address} ended a measurement without a result`);
    }
    const measuredAt = new Date().toISOString();
    const system = identifySystem(description, request.runOptions);
    return client.decodeAnswer(() => {
      if (message.system !== undefined && fromWireSystem(message.system).fingerprint !== system.fingerprint) {
        throw new PlatformError('usage', 'measurement: of another system than it describes');
      }
      return wire.fromWireMeasurement(message, request, { system, measuredAt });
    });
  }

  async function measureAlone(
    { index, request }: Numbered,
    { signal, onProgress }: MeasureOptions,
  ): Promise<MeasuredRequest> {
    const { name, limits } = request;
    const message = { ...toWireRun(request), protocol: wire.toWireProtocol(request), name };
    const deadlineMs = limits.timeLimitMs + MEASURE_WAIT_MS;
    const answers = client.stream(measure, message, { deadlineMs, signal });
    const tell = (progress: RequestProgress): void => onProgress?.({ ...progress, index });
    let measurement: Measurement | undefined;
    for await (const { value } of resultsIn(answers, { address, mostResults: 1, onProgress: tell }))
      measurement = value;
    return { index, measurement: decodeMeasurement(measurement, request) };
  }

  async function* measureTogether(
    together: readonly Numbered[],
    { signal, onProgress }: MeasureOptions,
  ): AsyncGenerator<MeasuredRequest> {
    const [first] = together;
    if (first === undefined) return;
    const { runOptions, limits } = first.request;
    const message = {
      bricks: together.flatMap(({ request: { benchmark, context, modelBytes = 0, roughMs = 0 } }) => {
        return context === undefined ? [] : [wire.toWireBrick({ benchmark, context, modelBytes, roughMs })];
      }),
      runOptions: wire.toWireRunOptions(runOptions),
      protocol: wire.toWireProtocol(first.request),
    };
    const deadlineMs = together.length * limits.timeLimitMs + MEASURE_WAIT_MS;
    const answers = client.stream(measureBricks, message, { deadlineMs, signal });
    const tell = (progress: RequestProgress): void => {
      const index = together[progress.index]?.index;
      if (index !== undefined) onProgress?.({ ...progress, index });
    };
    const missing = new Set(together.keys());
    const answerOptions = { address, mostResults: together.length, onProgress: tell };
    for await (const { value } of resultsIn(answers, answerOptions)) {
      const { brick, measurement } = value;
      const numbered = together[brick];
      if (numbered === undefined || !missing.delete(brick)) continue;
      yield { index: numbered.index, measurement: decodeMeasurement(measurement, numbered.request) };
    }
    if (missing.size > 0) decodeMeasurement(undefined, first.request);
  }

  return {
    description,

    reaches: (...needed) => {
      rememberTrace();
      requireAbilities(needed);
      return [{ address, options: clientOptions ?? {} }];
    },

    async *measure(requests, options = {}) {
      for (const together of requestsTogether(requests)) {
        const [first] = together;
        if (first === undefined) continue;
        await prepare(first.request.runOptions);
        if (first.request.context !== undefined) yield* measureTogether(together, options);
        else yield await measureAlone(first, options);
      }
    },

    async trace({ benchmark, runOptions, protocol, limits }, level, { signal, onProgress } = {}) {
      await prepare(runOptions, 'trace');
      const request = {
        ...toWireRun({ benchmark, runOptions }),
        protocol: wire.toWireProtocol({ protocol, limits, occasion: 1 }),
        level: toWireLevel(level),
      };
      const deadlineMs = 2 * limits.timeLimitMs + MEASURE_WAIT_MS;
      const answers = client.stream(traceBenchmark, request, { deadlineMs, signal });
      let trace: LayerTrace | undefined;
      for await (const { value } of resultsIn(answers, { address, mostResults: 1, onProgress })) {
        trace = client.decodeAnswer(() => fromWireLayerTrace(value, protocol.runs));
      }
      if (trace !== undefined) return trace;
      throw new PlatformError('internal', `the agent at ${address} ended a trace without a result`);
    },

    async inferTypes(benchmark, signal, { steeringValues = false } = {}) {
      await prepare(ANY_RUN, 'infer_types');
      const request = { benchmark: wire.toWireBenchmark(benchmark), steeringValues };
      const response = await client.unary(inferTypes, request, { signal, deadlineMs: INFER_TYPES_DEADLINE_MS });
      return client.decodeAnswer(() => wire.fromWireValues(response.values));
    },

    async optimize(benchmark, runOptions, signal, { steeringValues = false } = {}) {
      await prepare(runOptions, 'optimize');
      const request = { ...toWireRun({ benchmark, runOptions }), steeringValues };
      const response = await client.unary(optimize, request, { signal, deadlineMs: OPTIMIZE_DEADLINE_MS });
      return client.decodeAnswer(() => wire.fromWireOptimized(response));
    },

    async runOnce(benchmark, runOptions, { signal, everyValue = false, elements = 0 } = {}) {
      await prepare(runOptions, 'run_once');
      const request = { ...toWireRun({ benchmark, runOptions }), everyValue, elements };
      const response = await client.unary(runOnce, request, { signal, deadlineMs: OPTIMIZE_DEADLINE_MS });
      return client.decodeAnswer(() => wire.fromWireRunValues(response.values, elements));
    },

    async close() {
      await takeTraces(client, traceIds);
      client.close();
    },
  };
}

/** The time limit for fetching spans. It is short, because the measurements matter more than their trace. */
const TAKE_DEADLINE_MS = 5000;

/** Most spans taken from an agent: as many as an agent keeps. */
const MAX_SPANS = 20_000;

/** Fetches the agent's spans and adds them to the spans of this process. A failure only leaves gaps in the trace. */
async function takeTraces(client: RpcClient, traceIds: Iterable<string>): Promise<void> {
  try {
    for (const traceId of traceIds) {
      let taken = 0;
      for await (const { spans } of client.stream(takeSpans, { traceId }, { deadlineMs: TAKE_DEADLINE_MS })) {
        const own = spans.filter((span) => span.traceId === traceId).map(fromWireSpan);
        activeTracing()?.addSpans(own);
        taken += spans.length;
        if (taken >= MAX_SPANS) break;
      }
    }
  } catch {
    return;
  }
}
