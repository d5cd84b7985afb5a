import {
  type Both,
  type KnownResults,
  measurementWarnings,
  type PairedConfidence,
  pairedRatio,
  type PairedTimes,
  sumOf,
  toSystemDocument,
  trimmedMean,
  type BenchmarkAgent,
  type Pair,
  type System,
  type Task,
  taskKey,
  minOf,
} from '../../../src/plugin-api.js';
import { computeContext } from '../bricks/needs.js';
import type { PreparedModel } from '../bricks/prepare-model.js';
import { occasionSummary, groupObservations } from '../estimate/brick-latency.js';
import { type BrickShare, compose, type Estimate } from '../estimate/compose.js';
import { geometricMean, meanIfAny } from '../estimate/statistics.js';
import { FIRST_OCCASION, type MeasureSettings, wholeModelTasks, firstTasks } from '../measure/tasks.js';
import { comparedBrick, type Comparison, type Ratio, bothRatios } from './comparison.js';
import type { Aspect, ComparedBrick, ComparedModel } from './comparison-schema.js';
import { type Region, findRegions } from './regions.js';
import { describeSizes } from '../report/configuration.js';
import { describeSettings } from './row.js';

export interface PreparedSide {
  readonly agent: BenchmarkAgent;
  readonly system: System;
  readonly settings: MeasureSettings;
  readonly models: readonly PreparedModel[];
}

/** Pairs hold what no earlier model has, so that the two sides of a brick are measured within seconds. */
export function pairTasks(sides: Both<PreparedSide>, { isWhole }: { readonly isWhole: boolean }): readonly Pair[] {
  const known = [new Set<string>(), new Set<string>()] as const;
  const requestsOf = (side: 0 | 1, index: number): readonly Task['request'][] => {
    const { models, system, settings } = sides[side];
    const ofModel = models.slice(index, index + 1).filter(({ refusal }) => refusal === undefined);
    const all = [
      ...firstTasks(ofModel, system, settings),
      ...(isWhole ? wholeModelTasks(ofModel, FIRST_OCCASION, settings) : []),
    ];
    const isNew = (request: Task['request']): boolean => {
      const key = taskKey(request);
      return !known[side].has(key) && known[side].add(key).size > 0;
    };
    return all.map(({ request }) => request).filter(isNew);
  };
  const pairs = sides[0].models.map(({ recipe }, index): Pair => {
    return { label: recipe.name, requests: [requestsOf(0, index), requestsOf(1, index)] };
  });
  return pairs.filter(({ requests }) => requests.some((one) => one.length > 0));
}

/** Models and bricks are two tables: both together are wrong in one of 20 runs. */
const TAIL_OF_TABLE = 0.025;

interface RoundOfModel {
  readonly estimate: Estimate;
  readonly wholeMs: number | undefined;
}

type ModelRounds = readonly Both<RoundOfModel>[];

function mapBoth<T, R>([first, second]: Both<T>, map: (one: T, side: 0 | 1) => R): Both<R> {
  return [map(first, 0), map(second, 1)];
}

function composeRounds(sides: Both<PreparedSide>, rounds: readonly Both<KnownResults>[]): readonly ModelRounds[] {
  const observed = rounds.map((round) => mapBoth(round, (results) => groupObservations(results.measurements())));
  return sides[0].models.map((_, index) =>
    rounds.flatMap((round, at) => {
      const half = (side: 0 | 1): RoundOfModel | undefined => {
        const of = sides[side];
        const model = of.models[index];
        const observations = observed[at]?.[side];
        if (model === undefined || observations === undefined) return undefined;
        const { recipe, facts, whole } = model;
        const estimate = compose({ recipe, facts, context: computeContext(recipe, of.system) }, observations);
        const request = { ...of.settings, benchmark: whole, occasion: FIRST_OCCASION };
        const outcome = round[side].get(request)?.outcome;
        return { estimate, wholeMs: outcome?.kind === 'samples' ? occasionSummary(outcome).ms : undefined };
      };
      const first = half(0);
      const second = half(1);
      return first === undefined || second === undefined ? [] : [[first, second] as const];
    }),
  );
}

function pairTimes<T>(rounds: readonly Both<T>[], msOf: (one: T) => number | undefined): readonly PairedTimes[] {
  return rounds.flatMap(([first, second]) => {
    const a = msOf(first);
    const b = msOf(second);
    return a === undefined || b === undefined ? [] : [[a, b] as const];
  });
}

/** The second is the first times the ratio: plain means would disagree with it where something took the processor. */
function typicalMs(times: readonly PairedTimes[]): PairedTimes | undefined {
  const ratio = pairedRatio(times)?.ratio;
  if (ratio === undefined) return undefined;
  const first = trimmedMean(times.map(([a]) => a));
  return [first, first * ratio];
}

function computePairedRatio(times: readonly PairedTimes[], confidence: PairedConfidence): Ratio | undefined {
  const found = pairedRatio(times, confidence);
  return found && { ratio: found.ratio, low: found.low ?? null, high: found.high ?? null };
}

function whyNone(sides: Both<PreparedSide>, index: number, rounds: ModelRounds): string {
  const reasons = ([0, 1] as const).flatMap((side) => {
    const { refusal } = sides[side].models[index] ?? {};
    const missing = rounds.flatMap((round) => round[side].estimate.missing.map(({ reason }) => reason));
    const reason = refusal ?? missing[0];
    return reason === undefined ? [] : [`${side === 0 ? 'before' : 'after'}: ${reason}`];
  });
  return reasons.join('; ') || 'no round is complete';
}

/** A brick of both sides, or different kernels between the same values. */
interface Counterpart extends Pick<ComparedBrick, 'signature' | 'operators' | 'after_operators' | 'models'> {
  readonly times: readonly PairedTimes[];
}

type Parts = readonly BrickShare[];

class Counterparts {
  readonly found = new Map<string, Counterpart>();
  readonly #all: [number, number] = [0, 0];
  readonly #matched: [number, number] = [0, 0];

  addModel(name: string, rounds: readonly Both<Parts>[], models: Both<PreparedModel>): void {
    const [first] = rounds;
    if (first === undefined) return;
    for (const side of [0, 1] as const) {
      this.#all[side] += sumOf(first[side].map(({ count }, brick) => count * meanMs(rounds, side, [brick])));
    }
    const regions = findRegions(models);
    const within = (side: 0 | 1, brick: number): number => {
      return sumOf(regions.map((region) => region[side].filter((one) => one === brick).length));
    };
    const after = new Map(first[1].map(({ signature }, brick) => [signature, brick] as const));
    for (const [brick, { signature, count }] of first[0].entries()) {
      const other = after.get(signature);
      if (other === undefined) continue;
      const counts = [count - within(0, brick), (first[1][other]?.count ?? 0) - within(1, other)] as const;
      if (counts.every((left) => left > 0)) this.#add(name, rounds, [[brick], [other]], counts);
    }
    for (const region of regions) this.#add(name, rounds, region, [1, 1]);
  }

  get unmatched(): Comparison['unmatched'] {
    const shareOf = (side: 0 | 1): number | undefined => {
      const all = this.#all[side];
      return all === 0 ? undefined : Math.max(0, 1 - this.#matched[side] / all);
    };
    return { before: shareOf(0), after: shareOf(1) };
  }

  #add(name: string, rounds: readonly Both<Parts>[], bricks: Region, counts: Both<number>): void {
    const [first] = rounds;
    if (first === undefined) return;
    const partsOf = (side: 0 | 1): Parts => bricks[side].flatMap((brick) => first[side][brick] ?? []);
    const before = partsOf(0);
    const after = partsOf(1);
    const key = JSON.stringify([before, after].map((parts) => parts.map(({ benchmark }) => benchmark)));
    const times = rounds.flatMap((round): PairedTimes[] => {
      const a = sumTimes(round[0], bricks[0]);
      const b = sumTimes(round[1], bricks[1]);
      return a === undefined || b === undefined || a === 0 || b === 0 ? [] : [[a, b]];
    });
    const typical = typicalMs(times);
    if (typical === undefined) return;
    for (const side of [0, 1] as const) this.#matched[side] += counts[side] * meanMs(rounds, side, bricks[side]);
    const isSame = before.length === 1 && after.length === 1 && before[0]?.signature === after[0]?.signature;
    const found = this.found.get(key) ?? {
      signature: before[0]?.signature ?? '',
      operators: before.flatMap(({ operators }) => operators),
      after_operators: isSame ? null : after.flatMap(({ operators }) => operators),
      times,
      models: [],
    };
    this.found.set(key, found);
    found.models.push({ name, sequences: counts[1], difference_ms: counts[1] * typical[1] - counts[0] * typical[0] });
  }
}

function sumTimes(parts: Parts, bricks: readonly number[]): number | undefined {
  const times = bricks.map((brick) => parts[brick]?.ms);
  return times.some((ms) => ms === undefined) ? undefined : sumOf(times.map((ms) => ms ?? 0));
}

/** Means of parts add up to that of all, which trimmed ones do not. */
function meanMs(rounds: readonly Both<Parts>[], side: 0 | 1, bricks: readonly number[]): number {
  return meanIfAny(rounds.flatMap((round) => sumTimes(round[side], bricks) ?? [])) ?? 0;
}

function compareCounterpart({ times, ...brick }: Counterpart, comparisons: number): ComparedBrick[] {
  const ratio = computePairedRatio(times, { tail: TAIL_OF_TABLE, comparisons });
  return ratio === undefined ? [] : [comparedBrick(brick, typicalMs(times) ?? [0, 0], ratio)];
}

export function listAspects(sides: Both<Pick<PreparedSide, 'system' | 'agent'>>): readonly Aspect[] {
  const [before, after] = mapBoth(sides, ({ system, agent: { description } }) => {
    const { environment, ...surroundings } = description.surroundings ?? {};
    const set = { ...surroundings, environment: JSON.stringify(environment ?? {}) };
    return { host: description.host, ...set, ...toSystemDocument(system) };
  });
  const values = new Map(Object.entries(after).map(([aspect, value]) => [aspect, String(value)]));
  return Object.entries(before).flatMap(([aspect, value]) => {
    const from = String(value);
    const to = values.get(aspect) ?? '';
    return from === to || aspect === 'fingerprint' ? [] : [{ aspect, before: from, after: to }];
  });
}

/** Over the models, in each round in which all of them have times. */
function computeOverall(
  ofModels: readonly (readonly PairedTimes[])[],
  confidence: PairedConfidence,
): Ratio | undefined {
  const rounds = minOf(ofModels.map((times) => times.length));
  if (!Number.isFinite(rounds)) return undefined;
  const means = Array.from({ length: rounds }, (_, round): PairedTimes => {
    const side = (of: 0 | 1): number => geometricMean(ofModels.flatMap((times) => times[round]?.[of] ?? [])) ?? 0;
    return [side(0), side(1)];
  });
  return computePairedRatio(means, confidence);
}

/** The interval of each ratio is that of the difference within a round. @param batch of all models */
export function compareRounds(
  sides: Both<PreparedSide>,
  rounds: readonly Both<KnownResults>[],
  { batch, isWhole }: { readonly batch: number; readonly isWhole: boolean },
): Comparison {
  const all = composeRounds(sides, rounds);
  const names = sides[0].models.map(({ recipe }) => recipe.name);
  const estimates = all.map((ofModel) =>
    pairTimes(ofModel, ({ estimate: { isWhole: covers, sequential } }) => (covers ? sequential?.ms : undefined)),
  );
  const compared = estimates.filter((times) => times.length > 0);
  // The mean over several models is one more interval.
  const ofMean = compared.length > 1 ? 1 : 0;
  const confidence = { tail: TAIL_OF_TABLE, comparisons: compared.length * (isWhole ? 2 : 1) + ofMean };
  const [threadsBefore, threadsAfter] = mapBoth(sides, ({ system }) => system.runOptions.threads);
  const models = all.map((ofModel, index): ComparedModel => {
    const times = estimates[index] ?? [];
    const ratio = computePairedRatio(times, confidence);
    const typical = typicalMs(times);
    const wholes = pairTimes(ofModel, ({ wholeMs }) => wholeMs);
    return {
      model: names[index] ?? '',
      batch,
      threads_before: threadsBefore,
      threads_after: threadsAfter,
      before_ms: typical?.[0] ?? null,
      after_ms: typical?.[1] ?? null,
      ...bothRatios(ratio, computePairedRatio(wholes, confidence)),
      reason: ratio === undefined ? whyNone(sides, index, ofModel) : null,
      no_verdict: times.length === 1 ? 'one round has no interval; let two or more rounds complete' : null,
      dimensions: describeSizes(sides[0].models[index]?.inputs?.sizes ?? []),
      settings: describeSettings(toSystemDocument(sides[0].system), {}),
      label: names[index] ?? '',
    };
  });
  const counterparts = new Counterparts();
  for (const [index, ofModel] of all.entries()) {
    const one = sides[0].models[index];
    const other = sides[1].models[index];
    if (one === undefined || other === undefined) continue;
    const parts = ofModel.map((round) => mapBoth(round, ({ estimate }) => estimate.parts));
    counterparts.addModel(names[index] ?? '', parts, [one, other]);
  }
  const bricks = [...counterparts.found.values()];
  const [before, after] = mapBoth(sides, ({ system: { cores, runOptions } }, side) => {
    const taken = rounds.flatMap((round) => [...round[side].measurements()]);
    return measurementWarnings(taken, { threads: runOptions.threads, cores, canRemeasure: false });
  });
  return {
    aspects: listAspects(sides),
    models,
    overall: computeOverall(compared, confidence),
    bricks: bricks.flatMap((brick) => compareCounterpart(brick, bricks.length)),
    unmatched: counterparts.unmatched,
    rounds: rounds.length,
    warnings: { before, after },
    unpaired: { before: [], after: [] },
  };
}
