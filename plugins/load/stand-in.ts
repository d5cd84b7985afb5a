import {
  type Benchmark,
  buildComposite,
  groupedBy,
  inputBytes,
  type LoadedModel,
  type LoadGenerator,
  mean,
  nearestRank,
  type Plan,
  poissonArrivals,
  type QueryRecord,
  type RanTrial,
  type RunOptions,
  standInModel,
  sumOf,
  xoshiro128pp,
  Z_95,
  append,
  maxOf,
  minOf,
} from '../../src/plugin-api.js';
import { prepareModel } from '../dlbricks/bricks/prepare-model.js';
import { type Place, reachesOf, whileServing } from './serve.js';
import { computeVariation } from './stored-runs.js';

/** A model that runs instead of another one. */
export interface StandIn {
  readonly benchmark: Benchmark;
  readonly runOptions: RunOptions;
  /** It slows down by this much more or less than its model, in 95 % of cases (docs/load.md). */
  readonly error: number;
  /** Whether it has all of the model's work, so that it takes about as long. */
  readonly isWhole: boolean;
}

/** The model that a stand-in of one layer is like. */
export interface Likeness {
  readonly weightBytes: number;
  readonly runMs: number;
}

export interface ObservedRun {
  /** When it began, from the start of its block. */
  readonly atMs: number;
  /** From the end of the run before. */
  readonly pauseMs: number;
  readonly ms: number;
}

/** Runs of a few hundred milliseconds, with all pauses. */
export interface Block {
  readonly paused: readonly ObservedRun[];
  /** Times from scheduling a query until its run, after these pauses. */
  readonly handovers: readonly ObservedRun[];
  /** Of queries that waited already. */
  readonly dense: readonly ObservedRun[];
}

export interface Observation {
  readonly blocks: readonly Block[];
  /** Wall time of a block. */
  readonly blockMs: number;
  readonly handoverMs: number;
  /** undefined where no client waited for its answer. */
  readonly returnMs: number | undefined;
  readonly betweenMs: number;
}

/** Longer runs show no more, and larger weights are in no cache anyway. */
export const MAX_RUN_MS = 100;
const MAX_WEIGHT_BYTES = 2 ** 28;

const ERROR_OF_BRICKS = 0.05;
const ERROR_OF_LAYER = 0.08;

const LAYER_BYTES = { min: 2 ** 16, max: 2 ** 26 } as const;

const FIRST_ROWS = 64;
const MAX_ROWS = 2 ** 15;
const SIZING_QUERIES = 20;

/** Pauses between an answer and the next query, in ms. Caches are lost within some of them. */
const PAUSES = [0, 1, 2, 4, 8, 16, 32, 64];
const DENSE_QUERIES = 9;
/** Least number of queries at random moments in a block, and least length of it. */
const RANDOM_QUERIES = 4;
const RANDOM_MS = 1500;
const MIN_UTILIZATION = 0.1;
const MAX_UTILIZATION = 0.8;

/** Of an observation, and its least number of blocks if they fit into the longest. */
const MIN_MS = 6000;
const MAX_MS = 30_000;
const MIN_BLOCKS = 4;

/** Queries at random moments that waited, which show the time between two runs better than a dense loop. */
const MIN_GAPS = 10;

const ONE = { samples: [1], limit: 1, waitMs: 0 };
const TRIAL = { dispatch: 'turns', seed: 1, limit: 1 } as const;
const CLOSED = { kind: 'closed', samples: 1, leastMs: 0 } as const;

export function quantile(values: readonly number[], share: number): number {
  return nearestRank(Float64Array.from(values).sort(), share);
}

export function medianOf(values: readonly number[]): number {
  return quantile(values, 0.5);
}

function serving<T>({ benchmark, runOptions }: StandIn, place: Place, use: (generator: LoadGenerator) => Promise<T>) {
  return whileServing('stand-in', new Map([[1, benchmark]]), ONE, { ...place, runOptions }, use);
}

/** A model of one layer that takes about as long as a model, with as many bytes of weights. */
export async function oneLayerLike({ weightBytes, runMs }: Likeness, place: Place): Promise<StandIn> {
  const bytes = Math.min(LAYER_BYTES.max, Math.max(LAYER_BYTES.min, weightBytes));
  const { runOptions } = place;
  const plan = { ...CLOSED, clients: 1, thinkMs: [0], queries: SIZING_QUERIES };
  const common = { runOptions, error: ERROR_OF_LAYER, isWhole: false };
  const first = { ...common, benchmark: standInModel(bytes, FIRST_ROWS) };
  const { result } = await serving(first, place, (generator) => generator.trial({ ...TRIAL, plan }));
  const firstMs = medianOf(runsIn(result).map(({ ms }) => ms));
  const rows = Math.round((FIRST_ROWS * Math.min(MAX_RUN_MS, runMs)) / firstMs);
  return { ...common, benchmark: standInModel(bytes, Math.min(MAX_ROWS, Math.max(1, rows || FIRST_ROWS))) };
}

/**
 * The bricks of a model in their order, each with inputs of its own; the first ones of a long or large model.
 *
 * @param share of the model's time that its bricks may take: 1 where that is {@link MAX_RUN_MS} at most
 */
export async function bricksOf(loaded: LoadedModel, share: number, place: Place): Promise<StandIn> {
  const { agent, signal, runOptions } = place;
  const withoutValues = { ...loaded, weights: undefined };
  const { bricks, roughMs, recipe } = await prepareModel(withoutValues, { cut: 'kernel', runOptions }, agent, signal);
  const mostMs = share * sumOf(recipe.sequences.map((brick) => roughMs[brick] ?? 0));
  const chosen: Benchmark[] = [];
  let ms = 0;
  let bytes = 0;
  for (const index of recipe.sequences) {
    const brick = bricks[index];
    if (brick === undefined) continue;
    ms += roughMs[index] ?? 0;
    bytes += inputBytes(brick.inputs, 'weight');
    if (chosen.length > 0 && (ms > mostMs || bytes > MAX_WEIGHT_BYTES)) break;
    chosen.push(brick);
  }
  // Bricks are optimized already, and the optimizer would compute those that have only weights.
  const asItIs: RunOptions = { ...runOptions, optimizationLevel: 'disabled' };
  const isWhole = chosen.length === recipe.sequences.length;
  return { benchmark: buildComposite(chosen, 0).benchmark, runOptions: asItIs, error: ERROR_OF_BRICKS, isWhole };
}

/**
 * Every run but the first of each server, whose pause is not known.
 *
 * @param fromMs when the trial began, from the start of its block
 */
function runsIn({ records }: RanTrial, fromMs = 0): readonly ObservedRun[] {
  return pairsOf(records).flatMap(([before, { startedMs, finishedMs }]) => {
    if (startedMs === null) return [];
    return [{ atMs: fromMs + startedMs, pauseMs: startedMs - before.finishedMs, ms: finishedMs - startedMs }];
  });
}

/** Of the queries that waited for no other. */
function handoversIn({ records }: RanTrial, fromMs = 0): readonly ObservedRun[] {
  return pairsOf(records).flatMap(([before, { scheduledMs, startedMs }]) => {
    const pauseMs = scheduledMs - before.finishedMs;
    if (startedMs === null || pauseMs < 0) return [];
    return [{ atMs: fromMs + scheduledMs, pauseMs, ms: startedMs - scheduledMs }];
  });
}

/** Of one client, from the end of each run until it can send its next query. */
function returnsIn({ records }: RanTrial, thinkMs: readonly number[]): readonly number[] {
  return records.slice(1).flatMap(({ scheduledMs }, index) => {
    const before = records[index];
    return before === undefined ? [] : [scheduledMs - before.finishedMs - (thinkMs[index % thinkMs.length] ?? 0)];
  });
}

/** From the end of a run until that of a query that waited already. */
function gapsIn({ records }: RanTrial): readonly number[] {
  return pairsOf(records).flatMap(([before, { scheduledMs, startedMs }]) => {
    return startedMs === null || scheduledMs > before.finishedMs ? [] : [startedMs - before.finishedMs];
  });
}

function pairsOf(records: readonly QueryRecord[]): readonly (readonly [QueryRecord, QueryRecord])[] {
  return [...groupedBy(records, ({ server }) => server).values()].flatMap((own) => {
    return own.slice(1).flatMap((next, index) => {
      const before = own[index];
      return before === undefined ? [] : [[before, next] as const];
    });
  });
}

function shuffled(values: readonly number[], next: () => number): readonly number[] {
  return values
    .map((value) => ({ value, order: next() }))
    .sort((a, b) => a.order - b.order)
    .map(({ value }) => value);
}

/** What a stand-in is put under. */
export interface ObservedLoad {
  /** Share of the time in which it runs, with queries at random moments; undefined: pauses of many lengths. */
  readonly utilization?: number | undefined;
  /** 6 to 30 s. */
  readonly durationMs?: number | undefined;
}

/** Queries at random moments that keep the agents as busy with a stand-in as others do with its model. */
function randomPlan(utilization: number, runMs: number, agents: number, seed: number): Plan {
  const share = Math.max(MIN_UTILIZATION, Math.min(MAX_UTILIZATION, utilization));
  const perSecond = (1000 * agents * share) / runMs;
  const arrivals = poissonArrivals({ perSecond, queries: RANDOM_QUERIES * agents, leastMs: RANDOM_MS, seed });
  return { kind: 'open', arrivals };
}

/**
 * Runs of a stand-in with pauses and without, by turns, so that both see the same minutes. A machine that idles is
 * slower than after the same pause in a busy second, so it is kept as busy as it will be.
 *
 * @returns undefined after an interruption
 */
export async function observe(
  standIn: StandIn,
  place: Place,
  { utilization, durationMs = MIN_MS }: ObservedLoad = {},
): Promise<Observation | undefined> {
  const leastMs = Math.min(MAX_MS, Math.max(MIN_MS, durationMs));
  const next = xoshiro128pp(1);
  const returns: number[] = [];
  const gaps: number[] = [];
  const { result } = await serving(standIn, place, async (generator) => {
    const agents = reachesOf(place).length;
    const blocks: Block[] = [];
    const startMs = performance.now();
    const elapsedMs = (): number => performance.now() - startMs;
    const isWanted = (): boolean => elapsedMs() < (blocks.length < MIN_BLOCKS ? MAX_MS : leastMs);
    while (isWanted() && !place.signal.aborted) {
      const busy = { ...CLOSED, clients: 2 * agents, thinkMs: [0], queries: DENSE_QUERIES * agents };
      const withoutPauses = await generator.trial({ ...TRIAL, plan: busy });
      const dense = runsIn(withoutPauses);
      const denseMs = Math.max(0, maxOf(withoutPauses.records.map(({ finishedMs }) => finishedMs)));
      const thinkMs = shuffled(PAUSES, next);
      const paused: Plan =
        utilization === undefined || dense.length === 0
          ? { ...CLOSED, clients: 1, thinkMs, queries: PAUSES.length * agents + 1 }
          : randomPlan(utilization, medianOf(dense.map(({ ms }) => ms)), agents, blocks.length + 1);
      const apart = await generator.trial({ ...TRIAL, plan: paused });
      append(gaps, gapsIn(apart));
      if (paused.kind === 'closed') append(returns, returnsIn(apart, thinkMs));
      blocks.push({ paused: runsIn(apart, denseMs), handovers: handoversIn(apart, denseMs), dense });
    }
    return { blocks, blockMs: elapsedMs() / blocks.length };
  });
  const handovers = result.blocks.flatMap((block) => block.handovers.map(({ ms }) => ms));
  if (handovers.length === 0) return undefined;
  return {
    ...result,
    handoverMs: medianOf(handovers),
    returnMs: returns.length === 0 ? undefined : medianOf(returns),
    betweenMs:
      gaps.length >= MIN_GAPS
        ? sumOf(gaps) / gaps.length
        : medianOf(result.blocks.flatMap(({ dense }) => dense.map(({ pauseMs }) => pauseMs))),
  };
}

/** What trials of the model itself show, in blocks of a second. */
export function observeTrials(trials: readonly RanTrial[]): Observation {
  const secondOf = ({ atMs }: ObservedRun): number => Math.floor(atMs / STRETCH_MS);
  const inBlock = (run: ObservedRun): ObservedRun => ({ ...run, atMs: run.atMs % STRETCH_MS });
  const blocks = trials.flatMap((trial) => {
    const handovers = groupedBy(handoversIn(trial), secondOf);
    return [...groupedBy(runsIn(trial), secondOf)].map(([second, runs]): Block => {
      return { paused: [], handovers: (handovers.get(second) ?? []).map(inBlock), dense: runs.map(inBlock) };
    });
  });
  const gaps = trials.flatMap(gapsIn);
  const betweenMs = gaps.length === 0 ? 0 : mean(gaps);
  return { blocks, blockMs: STRETCH_MS, handoverMs: 0, returnMs: undefined, betweenMs };
}

/** Draws what a query on a machine sees. Times are of the simulation's clock. */
export interface Sampler {
  /** Of a run, over its time on an undisturbed machine. @param pauseMs since the run before */
  readonly slowdown: (startMs: number, pauseMs: number) => number;
  /** Until a query reaches the model. @param pauseMs since the run before; below 0 during a run */
  readonly handoverMs: (sentMs: number, pauseMs: number) => number;
}

/** What is known of a machine's runs from one or more observations of the same stand-in. */
export class Slowness {
  /** With all runs of a block together. */
  readonly #blocks: readonly (Omit<Block, 'paused'> & { readonly runs: readonly ObservedRun[] })[];
  readonly #blockMs: number;
  readonly undisturbedMs: number;

  constructor(observations: readonly Observation[]) {
    const all = observations.flatMap(({ blocks }) => blocks.flatMap(({ dense }) => dense.map(({ ms }) => ms)));
    // Estimates are of runs on a core that nobody else used, and so are at least a quarter of these.
    const undisturbed = quantile(all, UNDISTURBED);
    this.undisturbedMs = undisturbed;
    const relative = (runs: readonly ObservedRun[]) => runs.map((run) => ({ ...run, ms: run.ms / undisturbed }));
    const inTime = (runs: readonly ObservedRun[]) => runs.toSorted((a, b) => a.atMs - b.atMs);
    this.#blocks = observations.flatMap(({ blocks }) => {
      return blocks.map(({ paused, handovers, dense }) => {
        return { runs: inTime(relative([...paused, ...dense])), handovers: inTime(handovers), dense: relative(dense) };
      });
    });
    this.#blockMs = sumOf(observations.map(({ blockMs }) => blockMs)) / observations.length;
  }

  /** Mean slowdowns of runs without pauses, one for each block. */
  denseMeans(): readonly number[] {
    return this.#blocks.flatMap(({ dense }) => {
      return dense.length === 0 ? [] : [sumOf(dense.map(({ ms }) => ms)) / dense.length];
    });
  }

  /** How much the mean run differs from block to block: half the width of 95 %, relative. */
  drift(): number {
    const means = this.#blocks.flatMap(({ runs }) => (runs.length === 0 ? [] : [mean(runs.map(({ ms }) => ms))]));
    return Z_95 * computeVariation(means);
  }

  /** Slowdowns of all runs after pauses about as long. */
  after(pauseMs: number): readonly number[] {
    return this.#blocks.flatMap(({ runs }) => runsNear(runs, pauseMs).map(({ ms }) => ms));
  }

  /**
   * A stretch of simulated time is one of the observation, in which each run is the nearest one in time after such a
   * pause, because a slow moment lasts for several runs. Each sampler has other parts of the observation, some of them
   * twice (a bootstrap), because the observation is a sample of the machine's time.
   */
  sampler(seed: number): Sampler {
    const next = xoshiro128pp(seed);
    const blocks = this.#blocks.map(() => this.#blocks[next() % this.#blocks.length]);
    const firstBlocks = new Map<number, number>();
    const stretchMs = Math.max(STRETCH_MS, this.#blockMs);
    const drawn = (of: 'runs' | 'handovers', ms: number, pauseMs: number): number | undefined => {
      const stretch = Math.floor(ms / stretchMs);
      const first = firstBlocks.get(stretch) ?? next();
      firstBlocks.set(stretch, first);
      const later = Math.floor((ms % stretchMs) / this.#blockMs);
      const atMs = (ms % stretchMs) - later * this.#blockMs;
      return nearestRun(blocks[(first + later) % blocks.length]?.[of] ?? [], pauseMs, atMs)?.ms;
    };
    return {
      slowdown: (startMs, pauseMs) => drawn('runs', startMs, pauseMs) ?? 1,
      handoverMs: (sentMs, pauseMs) => drawn('handovers', sentMs, pauseMs) ?? 0,
    };
  }
}

/** Share of the runs, from the fastest on, that no other machine disturbed. */
const UNDISTURBED = 0.25;

/** Stretches of simulated time are at least so long. */
const STRETCH_MS = 1000;

/** Pauses below it are alike. */
const SHORT_PAUSE_MS = 0.5;

/** Pauses that differ by less than this factor are alike. */
const ALIKE = 2;

/** The factor by which two pauses differ, {@link ALIKE} for those that are alike. */
function pauseDistance(run: ObservedRun, pauseMs: number): number {
  const [a, b] = [Math.max(SHORT_PAUSE_MS, run.pauseMs), Math.max(SHORT_PAUSE_MS, pauseMs)];
  return Math.max(ALIKE, a / b, b / a);
}

/** The runs after pauses that differ least. */
function runsNear(runs: readonly ObservedRun[], pauseMs: number): readonly ObservedRun[] {
  const least = minOf(runs.map((run) => pauseDistance(run, pauseMs)));
  return runs.filter((run) => pauseDistance(run, pauseMs) === least);
}

/** The index of the first run at this time or later. */
function firstFrom(runs: readonly ObservedRun[], atMs: number): number {
  let [from, to] = [0, runs.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((runs[middle]?.atMs ?? Infinity) < atMs) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Of the runs after pauses that differ least, the nearest one in time: mostly a neighbour. @param runs in this order */
function nearestRun(runs: readonly ObservedRun[], pauseMs: number, atMs: number): ObservedRun | undefined {
  let nearest: ObservedRun | undefined;
  let distance = Infinity;
  let after = firstFrom(runs, atMs);
  let before = after - 1;
  while (distance > ALIKE) {
    const [early, late] = [runs[before], runs[after]];
    const isEarly = atMs - (early?.atMs ?? -Infinity) < (late?.atMs ?? Infinity) - atMs;
    const run = isEarly ? early : late;
    if (run === undefined) break;
    if (isEarly) before--;
    else after++;
    const its = pauseDistance(run, pauseMs);
    if (its >= distance) continue;
    nearest = run;
    distance = its;
  }
  return nearest;
}
