import { ASSUMED_CACHE_BYTES } from '../composite/footprint.js';
import { DEFAULT_LIMITS } from '../manifest/evaluation.js';
import type { Benchmark } from '../measurement/benchmark.js';
import type { Measurement } from '../measurement/measurement.js';
import type { Protocol } from '../measurement/protocol.js';
import { optimizedRun, type RunOptions, type SystemFacts } from '../measurement/system.js';
import { weightlessBenchmark } from '../measurement/weightless.js';
import { type ElementType, elementCount, tensorBytes } from '../onnx/model/element-type.js';
import type { DeclaredType, Node, Tensor } from '../onnx/model/model.js';
import { standardNode } from '../onnx/model/standard-node.js';
import type { ResultStore } from '../store/result-store.js';
import { type KnownResults, knownResults, buildWanted } from './known-results.js';
import type { Task } from './task.js';

/** What bounds kernels on a machine. */
export const PEAK_KINDS = ['float32', 'int8', 'memory', 'cache', 'core_cache', 'call'] as const;

export type PeakKind = (typeof PEAK_KINDS)[number];

interface Probe {
  readonly kind: PeakKind;
  readonly from: string;
  readonly benchmark: Benchmark;
  /** Operations or bytes of one run. */
  readonly amount: number;
}

/** A bound as it was measured: 10⁹ operations or bytes in a second; of the call, its milliseconds. */
export interface Peak {
  readonly kind: PeakKind;
  readonly value: number;
  readonly from: string;
  readonly measuredAt: string;
}

export type Peaks = ReadonlyMap<PeakKind, Peak>;

export const PEAK_PROTOCOL: Protocol = { warmupRuns: 3, runs: 60, minRuns: 10, timeBudgetMs: 5000 };

/** Sides of the squares that are multiplied. */
const SIDES = [512, 1024, 2048] as const;

/** A kernel of an Add touches three arrays: two that it reads, one that it writes. */
const STREAMS = 3;

/** Together, the arrays of the Add in memory have at least so many times the bytes of the last-level cache. */
const CACHES = 4;

/** Larger arrays could need more memory than there is. */
const MAX_ARRAY_BYTES = 512 * 2 ** 20;

/** Bytes of all arrays of the Adds in the cache of one core: half of the smallest such caches of today. */
const CORE_CACHE_BYTES = 192 * 2 ** 10;

/** Adds one after another in a cache, where the call would take longer than one. */
const IN_CACHE = 32;

const OPSET = 14;

function buildGraph(
  name: string,
  nodes: readonly Node[],
  {
    inputs,
    weights,
  }: Readonly<Record<'inputs' | 'weights', Readonly<Record<string, Pick<Tensor, 'elementType' | 'dims'>>>>>,
  result: string,
): Benchmark {
  // Only the shape of the result leaves the graph, so that no values are handed over.
  const shape = standardNode('shape', 'Shape', [result], ['shape']);
  const filled = Object.entries(weights).map(([weight, type]): [string, Tensor] => {
    return [weight, { ...type, data: { kind: 'fill', fill: { low: -1, high: 1, seed: 1 } } }];
  });
  const types = new Map<string, DeclaredType>([
    ...Object.entries(inputs),
    ['shape', { elementType: 'int64', dims: undefined }],
  ]);
  const graph = {
    name,
    nodes: [...nodes, shape],
    inputs: Object.keys(inputs),
    outputs: ['shape'],
    initializers: new Map(filled),
    types,
  };
  return weightlessBenchmark({ source: name, irVersion: 8, opsets: new Map([['', OPSET]]), graph });
}

function product(kind: 'float32' | 'int8', side: number): Probe {
  const dims = [side, side];
  const [opType, given] =
    kind === 'float32' ? ['MatMul', 'float32' as ElementType] : ['MatMulInteger', 'uint8' as ElementType];
  const types = { inputs: { a: { elementType: given, dims } }, weights: { b: { elementType: kind, dims } } };
  const benchmark = buildGraph(`${opType} ${side}`, [standardNode('c', opType, ['a', 'b'], ['c'])], types, 'c');
  return { kind, from: `${opType} of ${side} x ${side}`, benchmark, amount: 2 * side ** 3 };
}

function additions(kind: 'memory' | 'cache' | 'core_cache', bytes: number, count: number): Probe {
  const elementType = 'float32';
  const dims = [Math.max(1, Math.floor(bytes / STREAMS / 4))];
  const nodes = Array.from({ length: count }, (_, at) => {
    const sum = `x${at + 1}`;
    return standardNode(sum, 'Add', [at === 0 ? 'a' : `x${at}`, 'b'], [sum]);
  });
  const types = { inputs: { a: { elementType, dims }, b: { elementType, dims } }, weights: {} } as const;
  const benchmark = buildGraph(`Add ${elementCount(dims)}`, nodes, types, `x${count}`);
  const each = STREAMS * tensorBytes({ elementType, dims });
  return { kind, from: `Add with ${Number((each / 1e6).toPrecision(3))} MB`, benchmark, amount: count * each };
}

function call(): Probe {
  const types = { inputs: { a: { elementType: 'float32', dims: [1] } }, weights: {} } as const;
  return { kind: 'call', from: 'a run without work', benchmark: buildGraph('call', [], types, 'a'), amount: 0 };
}

function probesFor({ cacheBytes }: Pick<SystemFacts, 'cacheBytes'>): readonly Probe[] {
  const cache = cacheBytes > 0 ? cacheBytes : ASSUMED_CACHE_BYTES;
  const inMemory = Math.min(CACHES * cache, STREAMS * MAX_ARRAY_BYTES);
  return [
    ...SIDES.map((side) => product('float32', side)),
    ...SIDES.map((side) => product('int8', side)),
    additions('memory', inMemory, 1),
    additions('cache', cache / 4, IN_CACHE),
    additions('core_cache', CORE_CACHE_BYTES, IN_CACHE),
    call(),
  ];
}

/** Peaks do not depend on the optimizer. */
export function peakTasks(facts: SystemFacts, runOptions: RunOptions): readonly Task[] {
  return probesFor(facts).map(({ benchmark, from }) => {
    const setup = { runOptions: optimizedRun(runOptions), protocol: PEAK_PROTOCOL, limits: DEFAULT_LIMITS };
    return { label: from, request: { benchmark, ...setup, occasion: 1 }, work: 1 };
  });
}

/** The time that a quarter of the runs stay below: others on the machine only make runs slower. */
function fastMs({ outcome }: Measurement): number | undefined {
  if (outcome.kind === 'failure') return undefined;
  const sorted = outcome.runMs.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 4)];
}

export function computePeaks(facts: SystemFacts, runOptions: RunOptions, results: KnownResults): Peaks {
  const tasks = peakTasks(facts, runOptions);
  const measured = probesFor(facts).flatMap((probe, at) => {
    const task = tasks[at];
    const measurement = task && results.get(task.request);
    const ms = measurement && fastMs(measurement);
    return measurement === undefined || ms === undefined ? [] : [{ ...probe, ms, measuredAt: measurement.measuredAt }];
  });
  const callMs = measured.find(({ kind }) => kind === 'call')?.ms;
  const peaks = new Map<PeakKind, Peak>();
  for (const { kind, from, ms, amount, measuredAt } of measured) {
    const workMs = ms - (callMs ?? 0);
    const value = kind === 'call' ? ms : amount / workMs / 1e6;
    const isKnown = kind === 'call' || (callMs !== undefined && workMs > 0);
    if (isKnown && value > (peaks.get(kind)?.value ?? 0)) peaks.set(kind, { kind, value, from, measuredAt });
  }
  return peaks;
}

/** The peaks that a store has of a machine; none where 'mlmodelscope machine' did not measure them. */
export async function storedPeaks(
  store: Pick<ResultStore, 'findMeasurements'>,
  facts: SystemFacts,
  runOptions: RunOptions,
): Promise<Peaks> {
  const wanted = peakTasks(facts, runOptions).map(({ request }) => buildWanted(request));
  return computePeaks(facts, runOptions, await knownResults(wanted, facts, store));
}

/** Operations that a machine does while a byte comes from memory: kernels with less wait for memory. */
export function computeRidge(peaks: Peaks): number | undefined {
  const operations = peaks.get('float32')?.value;
  const bytes = peaks.get('memory')?.value;
  return operations === undefined || bytes === undefined ? undefined : operations / bytes;
}
