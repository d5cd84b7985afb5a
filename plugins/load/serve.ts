import {
  type BenchmarkAgent,
  DEFAULT_LIMITS,
  groupedBy,
  handoverModel,
  type LoadedModel,
  type LoadGenerator,
  PlatformError,
  type DeployedModel,
  type QueryRecord,
  type RanTrial,
  type Reach,
  type TargetSpec,
  type RunOptions,
  startGenerator,
  summaryOf,
  type TargetEnd,
  weightlessBenchmark,
  withBatch,
  withOwnWeights,
  type Benchmark,
} from '../../src/plugin-api.js';
import type { Overhead } from './load-result.js';
import { runSizes } from './settings.js';

/** Longest time for which a model is served: every trial has its own end long before. */
const SERVE_LIMIT_MS = 12 * 3600_000;

const WARMUP_RUNS = 3;

const MAX_SIZES = 64;

export interface Place {
  readonly agent: BenchmarkAgent;
  readonly signal: AbortSignal;
  readonly runOptions: RunOptions;
  readonly onWaiting: (processId: number | undefined) => void;
  readonly deployment?: DeploymentAddress | undefined;
}

export interface DeploymentAddress {
  readonly kind: 'oip' | 'predict';
  readonly reaches: readonly Reach[];
  readonly model: DeployedModel;
}

export interface Served {
  readonly samples: readonly number[];
  readonly limit: number;
  readonly waitMs: number;
}

export async function benchmarkOf({ model, weights }: LoadedModel, agent: BenchmarkAgent): Promise<Benchmark> {
  const filled = weightlessBenchmark(model);
  return (await withOwnWeights(filled, weights, agent)) ?? filled;
}

export async function modelsBySize(
  loaded: LoadedModel,
  bound: number,
  { samples, limit }: Pick<Served, 'samples' | 'limit'>,
  { agent, deployment }: Place,
): Promise<ReadonlyMap<number, Benchmark>> {
  if (deployment !== undefined) return new Map();
  const sizes = runSizes(samples, limit);
  if (sizes.length > MAX_SIZES) {
    const problem = `${loaded.name}: runs of ${sizes.length} sizes can occur, and ${MAX_SIZES} models can be open`;
    throw new PlatformError('usage', `${problem}; choose a smaller --batch-limit`);
  }
  const models = new Map<number, Benchmark>();
  for (const size of sizes) models.set(size, await benchmarkOf(withBatch(loaded, bound, size), agent));
  return models;
}

function reachesOf({ agent, deployment }: Place): readonly Reach[] {
  return deployment?.reaches ?? agent.reaches?.('load') ?? [];
}

/**
 * Holds the turns of the agents' machines while `use` sends queries. @throws PlatformError where an agent cannot serve
 */
export async function whileServing<T>(
  name: string,
  models: ReadonlyMap<number, Benchmark>,
  { limit, waitMs, samples }: Served,
  place: Place,
  use: (generator: LoadGenerator) => Promise<T>,
): Promise<{ readonly result: T; readonly ends: readonly TargetEnd[] }> {
  const { signal, runOptions, onWaiting, deployment } = place;
  const reaches = reachesOf(place);
  if (reaches.length === 0) throw new PlatformError('unsupported', 'this agent cannot be reached by the generator');
  const limits = { ...DEFAULT_LIMITS, timeLimitMs: SERVE_LIMIT_MS };
  const request = { name, models, runOptions, batching: { limit, waitMs }, warmupRuns: WARMUP_RUNS, limits };
  const targets = reaches.map((reach): TargetSpec => {
    return deployment ? { ...deployment, reach, samples } : { kind: 'agent', reach, request };
  });
  const generator = await startGenerator(targets, {
    signal,
    warmupSamples: samples[0] ?? 1,
    onProgress: ({ phase, waitsFor }) => {
      if (phase === 'waiting') onWaiting(waitsFor);
    },
  });
  try {
    const result = await use(generator);
    const ends = await generator.close().catch((): readonly TargetEnd[] => []);
    return { result, ends };
  } finally {
    generator.kill();
  }
}

/** Regular queries, so far apart that the machine idles for most of the time. */
const HANDED_OVER = Array.from({ length: 100 }, (_, query) => ({ atMs: 30 * query, samples: 1 }));

const CLIENTS = 8;

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function medianTime({ records }: RanTrial, msOf: (startedMs: number, record: QueryRecord) => number): number {
  return medianOf(records.flatMap((one) => (one.startedMs === null ? [] : [msOf(one.startedMs, one)])));
}

export async function measureOverhead(place: Place): Promise<Overhead> {
  const one = { samples: [1], limit: 1, waitMs: 0 };
  const models = new Map([[1, handoverModel()]]);
  const { result } = await whileServing('handover', models, one, place, async (generator) => {
    const usual = { dispatch: 'turns', seed: 1, limit: 1 } as const;
    const apart = await generator.trial({ ...usual, plan: { kind: 'open', arrivals: HANDED_OVER } });
    const closed = { kind: 'closed', thinkMs: 0, samples: 1, queries: 100, leastMs: 0 } as const;
    const alone = await generator.trial({ ...usual, plan: { ...closed, clients: 1 } });
    const dense = await generator.trial({ ...usual, plan: { ...closed, clients: CLIENTS } });
    return { apart, alone, dense };
  });
  const { apart, alone, dense } = result;
  const pauses = [...groupedBy(dense.records, ({ server }) => server).values()].flatMap((records) => {
    return pausesOf(records, ({ startedMs }) => startedMs);
  });
  const runMsOf = (trial: RanTrial): number => medianTime(trial, (startedMs, { finishedMs }) => finishedMs - startedMs);
  const servers = reachesOf(place).length;
  const loads = [apart, alone].flatMap((trial) => {
    const { utilization } = summaryOf(trial.records, trial, { bound: undefined, servers, isOpen: trial === apart });
    if (utilization === null) return [];
    const handoverMs = medianTime(trial, (startedMs, { scheduledMs }) => startedMs - scheduledMs);
    return [{ utilization, handover_ms: handoverMs, slowdown: runMsOf(trial) / runMsOf(dense) }];
  });
  const returns = pausesOf(alone.records, ({ sentMs }) => sentMs);
  return { loads, return_ms: medianOf(returns), between_ms: medianOf(pauses) };
}

/** From the end of each query until a moment of the next one, in ms. */
function pausesOf(records: readonly QueryRecord[], momentOf: (next: QueryRecord) => number | null): readonly number[] {
  return records.slice(1).flatMap((next, index) => {
    const [before, moment] = [records[index], momentOf(next)];
    return before === undefined || moment === null ? [] : [moment - before.finishedMs];
  });
}
