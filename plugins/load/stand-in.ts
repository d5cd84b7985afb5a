import {
  type Benchmark,
  groupedBy,
  type LoadGenerator,
  nearestRank,
  type QueryRecord,
  type RanTrial,
  standInModel,
  sumOf,
  xoshiro128pp,
} from '../../src/plugin-api.js';
import { type Place, reachesOf, whileServing } from './serve.js';

/** The model that a stand-in is like. */
export interface Likeness {
  readonly weightBytes: number;
  readonly runMs: number;
}

export interface ObservedRun {
  /** From the end of the run before it. */
  readonly pauseMs: number;
  readonly ms: number;
}

/** Runs of a few hundred milliseconds, with all pauses. */
export interface Block {
  readonly paused: readonly ObservedRun[];
  /** Of queries that waited already. */
  readonly dense: readonly ObservedRun[];
}

export interface Observation {
  readonly blocks: readonly Block[];
  /** Wall time of a block. */
  readonly blockMs: number;
  readonly handoverMs: number;
  readonly returnMs: number;
  readonly betweenMs: number;
}

/** Larger weights are in no cache anyway, and longer runs show no more. */
const MAX_WEIGHT_BYTES = 64 * 2 ** 20;
const MIN_WEIGHT_BYTES = 2 ** 16;
const MAX_RUN_MS = 100;

const FIRST_ROWS = 64;
const MAX_ROWS = 2 ** 15;
const SIZING_QUERIES = 20;

/** Pauses between an answer and the next query, in ms. Caches are lost within some of them. */
const PAUSES = [0, 1, 2, 4, 8, 16, 32, 64];
const DENSE_QUERIES = 9;
const LEAST_MS = 6000;
const LEAST_BLOCKS = 8;

const ONE = { samples: [1], limit: 1, waitMs: 0 };
const TRIAL = { dispatch: 'turns', seed: 1, limit: 1 } as const;
const CLOSED = { kind: 'closed', samples: 1, leastMs: 0 } as const;

export function medianOf(values: readonly number[]): number {
  return nearestRank(Float64Array.from(values).sort(), 0.5);
}

function serving<T>(benchmark: Benchmark, place: Place, use: (generator: LoadGenerator) => Promise<T>) {
  return whileServing('stand-in', new Map([[1, benchmark]]), ONE, place, use);
}

/** A model of one layer that takes about as long as a model, with as many bytes of weights. */
export async function standInFor({ weightBytes, runMs }: Likeness, place: Place): Promise<Benchmark> {
  const bytes = Math.min(MAX_WEIGHT_BYTES, Math.max(MIN_WEIGHT_BYTES, weightBytes));
  const plan = { ...CLOSED, clients: 1, thinkMs: [0], queries: SIZING_QUERIES };
  const { result } = await serving(standInModel(bytes, FIRST_ROWS), place, (generator) => {
    return generator.trial({ ...TRIAL, plan });
  });
  const firstMs = medianOf(runsIn(result).map(({ ms }) => ms));
  const rows = Math.round((FIRST_ROWS * Math.min(MAX_RUN_MS, runMs)) / firstMs);
  return standInModel(bytes, Math.min(MAX_ROWS, Math.max(1, rows || FIRST_ROWS)));
}

/** Every run but the first of each server, whose pause is not known. */
function runsIn({ records }: RanTrial): readonly ObservedRun[] {
  return pairsOf(records).flatMap(([before, { startedMs, finishedMs }]) => {
    return startedMs === null ? [] : [{ pauseMs: startedMs - before.finishedMs, ms: finishedMs - startedMs }];
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

/**
 * Runs of a stand-in after pauses of many lengths and without pauses, by turns, so that both see the same minutes.
 *
 * @returns undefined after an interruption
 */
export async function observe(standIn: Benchmark, place: Place): Promise<Observation | undefined> {
  const next = xoshiro128pp(1);
  const handovers: number[] = [];
  const returns: number[] = [];
  const { result } = await serving(standIn, place, async (generator) => {
    const blocks: Block[] = [];
    const startMs = performance.now();
    while ((blocks.length < LEAST_BLOCKS || performance.now() - startMs < LEAST_MS) && !place.signal.aborted) {
      const thinkMs = shuffled(PAUSES, next);
      const clients = reachesOf(place).length;
      const plan = { ...CLOSED, clients: 1, thinkMs, queries: PAUSES.length * clients + 1 };
      const apart = await generator.trial({ ...TRIAL, plan });
      const busy = { ...CLOSED, clients: 2 * clients, thinkMs: [0], queries: DENSE_QUERIES * clients };
      const dense = await generator.trial({ ...TRIAL, plan: busy });
      for (const { startedMs, scheduledMs } of apart.records) {
        if (startedMs !== null) handovers.push(startedMs - scheduledMs);
      }
      for (const [index, { scheduledMs }] of apart.records.entries()) {
        const before = apart.records[index - 1];
        const think = thinkMs[(index - 1) % thinkMs.length] ?? 0;
        if (before !== undefined) returns.push(scheduledMs - before.finishedMs - think);
      }
      blocks.push({ paused: runsIn(apart), dense: runsIn(dense) });
    }
    return { blocks, blockMs: (performance.now() - startMs) / blocks.length };
  });
  if (handovers.length === 0) return undefined;
  return {
    ...result,
    handoverMs: medianOf(handovers),
    returnMs: medianOf(returns),
    betweenMs: medianOf(result.blocks.flatMap(({ dense }) => dense.map(({ pauseMs }) => pauseMs))),
  };
}

/** What is known of a machine's runs from one or more observations of the same stand-in. */
export class Slowness {
  readonly #blocks: readonly Block[];
  readonly #blockMs: number;
  readonly undisturbedMs: number;

  constructor(observations: readonly Observation[]) {
    const all = observations.flatMap(({ blocks }) => blocks.flatMap(({ dense }) => dense.map(({ ms }) => ms)));
    // Estimates are of runs on a core that nobody else used, and so are at least a quarter of these.
    const undisturbed = nearestRank(Float64Array.from(all).sort(), UNDISTURBED);
    this.undisturbedMs = undisturbed;
    const relative = (runs: readonly ObservedRun[]) => runs.map((run) => ({ ...run, ms: run.ms / undisturbed }));
    this.#blocks = observations.flatMap(({ blocks }) => {
      return blocks.map(({ paused, dense }) => ({ paused: relative(paused), dense: relative(dense) }));
    });
    this.#blockMs = sumOf(observations.map(({ blockMs }) => blockMs)) / observations.length;
  }

  /** Mean slowdowns of runs without pauses, one for each block. */
  denseMeans(): readonly number[] {
    return this.#blocks.flatMap(({ dense }) => {
      return dense.length === 0 ? [] : [sumOf(dense.map(({ ms }) => ms)) / dense.length];
    });
  }

  /** Slowdowns of all runs after pauses about as long. */
  after(pauseMs: number): readonly number[] {
    return this.#blocks.flatMap((block) => runsNear(block, pauseMs).map(({ ms }) => ms));
  }

  /**
   * Draws the slowdown of a run. Runs of one second come from one place of the observation, because a machine is slow
   * for some time and not run by run.
   */
  sampler(seed: number): (startMs: number, pauseMs: number) => number {
    const next = xoshiro128pp(seed);
    const places = new Map<number, number>();
    return (startMs, pauseMs) => {
      const segment = Math.floor(startMs / SEGMENT_MS);
      const place = places.get(segment) ?? next();
      places.set(segment, place);
      const later = Math.floor((startMs % SEGMENT_MS) / this.#blockMs);
      const block = this.#blocks[(place + later) % this.#blocks.length];
      const near = block === undefined ? [] : runsNear(block, pauseMs);
      return near[next() % near.length]?.ms ?? 1;
    };
  }
}

/** Share of the runs, from the fastest on, that no other machine disturbed. */
const UNDISTURBED = 0.25;

const SEGMENT_MS = 1000;

/** Pauses below it are alike. */
const SHORT_PAUSE_MS = 0.5;

/** The runs whose pause differs by less than a factor of 2, or else by least. */
function runsNear({ paused, dense }: Block, pauseMs: number): readonly ObservedRun[] {
  const distance = (run: ObservedRun): number => {
    return Math.abs(Math.log2(Math.max(SHORT_PAUSE_MS, run.pauseMs) / Math.max(SHORT_PAUSE_MS, pauseMs)));
  };
  const all = [...paused, ...dense];
  const near = all.filter((run) => distance(run) < 1);
  if (near.length > 0) return near;
  const least = Math.min(...all.map(distance));
  return all.filter((run) => distance(run) === least);
}
