import {
  type BenchmarkAgent,
  DEFAULT_LIMITS,
  type LoadedModel,
  type LoadGenerator,
  PlatformError,
  type DeployedModel,
  type Reach,
  type TargetSpec,
  type RunOptions,
  startGenerator,
  type ServingEnd,
  wholeBenchmark,
  withSizes,
  type Benchmark,
} from '../../src/plugin-api.js';
import { runSizes } from './settings.js';
import { MAX_TRIALS_MS } from './trial-length.js';

/** Longest time for which a model is served: its trials end before. */
const SERVE_LIMIT_MS = 2 * MAX_TRIALS_MS;

const WARMUP_RUNS = 3;

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
  /** As a user writes it. */
  readonly url: string;
}

export interface Served {
  readonly samples: readonly number[];
  readonly limit: number;
  readonly waitMs: number;
}

export async function modelsBySize(
  loaded: LoadedModel,
  bound: number,
  { samples, limit }: Pick<Served, 'samples' | 'limit'>,
  { agent, deployment }: Place,
): Promise<ReadonlyMap<number, Benchmark>> {
  if (deployment !== undefined) return new Map();
  const models = new Map<number, Benchmark>();
  for (const size of runSizes(samples, limit))
    models.set(size, await wholeBenchmark(withSizes(loaded, bound, { batch: size }), agent));
  return models;
}

export function reachesOf({ agent, deployment }: Place): readonly Reach[] {
  return deployment?.reaches ?? agent.reaches?.('load') ?? [];
}

/** undefined after an interruption, so that what was done before it is kept. */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
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
): Promise<{ readonly result: T; readonly ends: readonly ServingEnd[] }> {
  const { signal, runOptions, onWaiting, deployment } = place;
  const reaches = reachesOf(place);
  if (reaches.length === 0) throw new PlatformError('unsupported', 'this agent cannot be reached by the generator');
  const limits = { ...DEFAULT_LIMITS, timeLimitMs: SERVE_LIMIT_MS };
  const request = { name, models, runOptions, batching: { limit, waitMs }, warmupRuns: WARMUP_RUNS, limits };
  const targets = reaches.map((reach): TargetSpec => {
    return deployment
      ? { kind: deployment.kind, model: deployment.model, reach, samples }
      : { kind: 'agent', reach, request };
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
    const ends = await generator.close().catch((): readonly ServingEnd[] => []);
    return { result, ends };
  } finally {
    generator.kill();
  }
}
