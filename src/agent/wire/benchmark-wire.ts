// `fromWire…` checks its message and throws PlatformError `usage`; the caller knows which side was wrong.
import { z } from 'zod';
import * as wire from '../../generated/mlmodelscope/benchmark/v1/benchmark.js';
import { PlatformError } from '../../base/errors.js';
import { type Benchmark, INPUT_ROLES } from '../../measurement/benchmark.js';
import type { Conditions } from '../../measurement/conditions.js';
import type { BrickInContext } from '../../composite/plan-composites.js';
import {
  contextSchema,
  FAILURE_REASONS,
  type Measurement,
  measurementSchema,
  problemWithTimes,
} from '../../measurement/measurement.js';
import type { Protocol } from '../../measurement/protocol.js';
import { canonicalRunOptions, type RunOptions } from '../../measurement/system.js';
import {
  MEASURE_PHASES,
  type MeasureProgress,
  type MeasureRequest,
  type OptimizedGraph,
  type RequestProgress,
} from '../benchmark-agent.js';
import type { InferredValue } from '../../onnx/layers/layer-graph.js';
import type { Measured } from '../jobs/job.js';
import { FIRST_ELEMENTS, MAX_ELEMENTS, type RunValue } from '../run-value.js';
import { check } from '../../rpc/check-message.js';
import { fromWireDuration, toWireDuration } from '../../rpc/duration.js';
import { fromWireEnum, toWireEnum } from '../../rpc/wire-enum.js';
import { benchmarkSchema, elementTypeSchema, requestedRunOptionsSchema, setupSchema } from './request-schema.js';

export function toWireBenchmark({ signature, model, inputs, weights }: Benchmark): wire.Benchmark {
  return {
    signature,
    model,
    weights: weights ?? '',
    inputs: inputs.map(({ name, role, elementType, dims, fill, isGiven: given = false }) => {
      const { low, high, seed, list = [] } = fill;
      const values = { low, high, seed: BigInt(seed), values: [...list], given };
      return { name, role: toWireEnum(wire.Input_Role, role), elementType, dims: dims.map(BigInt), ...values };
    }),
  };
}

export function fromWireBenchmark(message: wire.Benchmark | undefined): Benchmark {
  const inputs = message?.inputs.map(({ name, role, elementType, dims, low, high, seed, values, given }) => {
    const fill = { low, high, seed: Number(seed), ...(values.length > 0 && { list: values }) };
    const input = {
      name,
      role: fromWireEnum(wire.Input_Role, INPUT_ROLES, role),
      elementType,
      dims: dims.map(Number),
      fill,
    };
    return given ? { ...input, isGiven: true } : input;
  });
  const { signature, model, weights } = message ?? {};
  const given = { signature, model, inputs, ...(weights ? { weights } : {}) };
  return check(benchmarkSchema, given, 'benchmark');
}

export function toWireRunOptions(options: RunOptions): wire.RunOptions {
  const { executionMode = '', interOpThreads = 0, session = [], ...common } = options;
  return { ...common, executionMode, interOpThreads, session };
}

export function fromWireRunOptions(message: wire.RunOptions | undefined): RunOptions {
  const { executionMode, interOpThreads, session, ...common } = message ?? wire.RunOptions.create();
  const further = { executionMode: executionMode || undefined, interOpThreads: interOpThreads || undefined, session };
  return canonicalRunOptions(check(requestedRunOptionsSchema, { ...common, ...further }, 'run_options'));
}

export type WireSetup = Pick<MeasureRequest, 'protocol' | 'occasion' | 'limits'>;

export function toWireProtocol({ protocol, occasion, limits }: WireSetup): wire.Protocol {
  return {
    warmupRuns: protocol.warmupRuns,
    runs: protocol.runs,
    minRuns: protocol.minRuns,
    timeBudget: toWireDuration(protocol.timeBudgetMs),
    timeLimit: toWireDuration(limits.timeLimitMs),
    memoryLimitBytes: BigInt(Math.ceil(limits.memoryLimitBytes)),
    occasion,
  };
}

/** @param defaultMemoryLimitBytes the limit if the message has 0 */
export function fromWireProtocol(message: wire.Protocol | undefined, defaultMemoryLimitBytes: number): WireSetup {
  const protocol = message ?? wire.Protocol.create();
  const { warmupRuns, runs, minRuns, timeBudget, timeLimit, memoryLimitBytes, occasion } = protocol;
  const setup = {
    protocol: { warmupRuns, runs, minRuns, timeBudgetMs: fromWireDuration(timeBudget) },
    occasion: Math.max(1, occasion),
    limits: {
      timeLimitMs: fromWireDuration(timeLimit),
      memoryLimitBytes: memoryLimitBytes === 0n ? defaultMemoryLimitBytes : Number(memoryLimitBytes),
    },
  };
  return check(setupSchema, setup, 'protocol');
}

export function toWireBrick({ benchmark, context, modelBytes, roughMs }: BrickInContext): wire.Brick {
  return {
    benchmark: toWireBenchmark(benchmark),
    footprintBytes: BigInt(context.footprintBytes),
    modelBytes: BigInt(modelBytes),
    roughMs,
  };
}

export function fromWireBrick({ benchmark, footprintBytes, modelBytes, roughMs }: wire.Brick): BrickInContext {
  const context = check(contextSchema, { footprintBytes: Number(footprintBytes) }, 'brick');
  return {
    benchmark: fromWireBenchmark(benchmark),
    context,
    modelBytes: Number(modelBytes),
    roughMs: Number.isFinite(roughMs) ? Math.max(0, roughMs) : 0,
  };
}

export function toWireProgress(progress: MeasureProgress | RequestProgress) {
  const { phase, runsDone, runsTotal, waitsFor = 0, index, together } = { index: 0, together: 0, ...progress };
  const value: wire.Progress = {
    phase: toWireEnum(wire.Progress_Phase, phase),
    ...{ runsDone, runsTotal, brick: index, together, waitsFor },
  };
  return { event: { $case: 'progress', value } } as const;
}

/** Undefined for a phase that only a newer version knows. */
export function fromWireProgress({
  phase,
  runsDone,
  runsTotal,
  brick,
  together,
  waitsFor,
}: wire.Progress): RequestProgress | undefined {
  const known = fromWireEnum(wire.Progress_Phase, MEASURE_PHASES, phase);
  if (known === undefined) return undefined;
  const session = { phase: known, runsDone, runsTotal, index: brick, together: Math.max(1, together) };
  return waitsFor === 0 ? session : { ...session, waitsFor };
}

function toWireOutcome({ outcome }: Measured): wire.Measurement['outcome'] {
  if (outcome.kind === 'samples') {
    const { runMs, warmupMs, overheadMs } = outcome;
    return { $case: 'samples', value: { runMs, warmupMs, overheadMs } };
  }
  return {
    $case: 'failure',
    value: { reason: toWireEnum(wire.Failure_Reason, outcome.reason), message: outcome.message },
  };
}

export function toWireMeasurement(signature: string, measured: Measured): wire.Measurement {
  return {
    signature,
    outcome: toWireOutcome(measured),
    costMs: measured.costMs,
    sessionMs: measured.sessionMs,
    peakMemoryBytes: BigInt(Math.round(measured.peakMemoryBytes)),
    system: undefined,
    conditions: toWireConditions(measured.conditions),
  };
}

export function toWireConditions(conditions: Conditions | undefined): wire.Conditions | undefined {
  return conditions && wire.Conditions.create(conditions);
}

/** Leaves out unknown values, which a message has as undefined fields. */
export function fromWireConditions(message: wire.Conditions | undefined): { readonly conditions?: unknown } {
  if (message === undefined) return {};
  return { conditions: Object.fromEntries(Object.entries(message).filter(([, value]) => value !== undefined)) };
}

/** Most characters of the message of a failure: it is stored for each brick. */
const MAX_MESSAGE = 2000;

/** @throws PlatformError `usage` for more samples than were asked for */
function fromWireOutcome(outcome: wire.Measurement['outcome'], { runs, warmupRuns }: Protocol): unknown {
  if (outcome?.$case === 'samples') {
    const { overheadMs, ...samples } = outcome.value;
    if (samples.runMs.length > runs || samples.warmupMs.length > warmupRuns) {
      throw new PlatformError(
        'usage',
        `measurement: more than the ${runs} runs, or ${warmupRuns} warm-up runs, asked for`,
      );
    }
    return { kind: 'samples', ...samples, ...(overheadMs === undefined ? {} : { overheadMs }) };
  }
  if (outcome?.$case !== 'failure') return undefined;
  const { reason, message } = outcome.value;
  const short = message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message;
  return { kind: 'failure', reason: fromWireEnum(wire.Failure_Reason, FAILURE_REASONS, reason), message: short };
}

const answeredSchema = measurementSchema.pick({
  outcome: true,
  costMs: true,
  sessionMs: true,
  peakMemoryBytes: true,
  conditions: true,
});

/** @throws PlatformError `usage`, also for a measurement of another benchmark than the requested one */
export function fromWireMeasurement(
  message: wire.Measurement,
  { benchmark: { signature }, protocol, occasion, limits, context }: Omit<MeasureRequest, 'runOptions'>,
  origin: Pick<Measurement, 'system' | 'measuredAt'>,
): Measurement {
  if (message.signature !== signature)
    throw new PlatformError('usage', 'measurement: of another benchmark than asked for');
  const answered = {
    outcome: fromWireOutcome(message.outcome, protocol),
    costMs: message.costMs,
    sessionMs: message.sessionMs,
    peakMemoryBytes: Number(message.peakMemoryBytes),
    ...fromWireConditions(message.conditions),
  };
  const measurement = {
    signature,
    protocol,
    ...(context === undefined ? {} : { context }),
    occasion,
    limits,
    ...check(answeredSchema, answered, 'measurement'),
    ...origin,
  };
  const problem = problemWithTimes(measurement);
  if (problem !== undefined) throw new PlatformError('usage', `measurement: ${problem}`);
  return measurement;
}

const MAX_INT64 = 2n ** 63n - 1n;

export function toWireValues(values: ReadonlyMap<string, InferredValue>): wire.ValueType[] {
  return [...values].map(([name, { elementType, dims, content, minimum, maximum }]) => {
    // A uint64 can exceed the message's int64; then the value has no range.
    const hasRange = minimum !== undefined && maximum !== undefined && maximum <= MAX_INT64;
    const range = hasRange ? { minimum, maximum } : { minimum: undefined, maximum: undefined };
    return { name, elementType, dims: dims.map(BigInt), content, ...range };
  });
}

const inferredValueSchema = z.object({
  elementType: elementTypeSchema,
  dims: z.array(z.int()),
});

export function fromWireValues(values: readonly wire.ValueType[]): ReadonlyMap<string, InferredValue> {
  return new Map(
    values.map(({ name, elementType, dims, content, minimum, maximum }) => [
      name,
      {
        ...check(inferredValueSchema, { elementType, dims: dims.map(Number) }, `value ${name}`),
        ...(content === undefined ? {} : { content }),
        ...(minimum === undefined || maximum === undefined ? {} : { minimum, maximum }),
      },
    ]),
  );
}

export function toWireOptimized({ benchmark, values, costMs }: OptimizedGraph): wire.OptimizeResponse {
  return { benchmark: toWireBenchmark(benchmark), values: toWireValues(values), costMs };
}

export function fromWireOptimized({ benchmark, values, costMs }: wire.OptimizeResponse): OptimizedGraph {
  return {
    benchmark: fromWireBenchmark(benchmark),
    values: fromWireValues(values),
    costMs: check(measurementSchema.shape.costMs, costMs, 'cost_ms'),
  };
}

export function toWireRunValues(values: ReadonlyMap<string, RunValue>): wire.RunValue[] {
  return [...values].map(([name, { elementType, dims, sha256, norm, notFinite, first, elements, stride }]) => ({
    name,
    elementType,
    dims: dims.map(BigInt),
    sha256: Buffer.from(sha256, 'hex'),
    first: [...first],
    norm,
    notFinite: BigInt(notFinite),
    elements: [...elements],
    stride: BigInt(stride),
  }));
}

/** Elements may be infinite or no number. */
const elementsSchema = z.array(z.custom<number>((value) => typeof value === 'number'));

/** @throws PlatformError `usage`, also for more elements than were asked for */
export function fromWireRunValues(values: readonly wire.RunValue[], asked: number): ReadonlyMap<string, RunValue> {
  const runValueSchema = inferredValueSchema.extend({
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    norm: z.number().nonnegative(),
    notFinite: z.int(),
    first: elementsSchema.max(FIRST_ELEMENTS),
    elements: elementsSchema.max(Math.min(asked, MAX_ELEMENTS)),
    stride: z.int().min(1),
  });
  return new Map(
    values.map(({ name, dims, sha256, notFinite, stride, ...rest }) => {
      const numbers = { dims: dims.map(Number), notFinite: Number(notFinite), stride: Number(stride) };
      const value = { ...rest, ...numbers, sha256: Buffer.from(sha256).toString('hex') };
      return [name, check(runValueSchema, value, `value ${name}`)];
    }),
  );
}
