import {
  elementCount,
  groupedBy,
  isReorder,
  type LayerGraph,
  mean,
  pairedRatio,
  type Peaks,
  PlatformError,
  sumOf,
  tensorBytes,
  minOf,
} from '../../../src/plugin-api.js';
import { operatorsLabel } from '../bricks/brick.js';
import { longestPath } from '../estimate/longest-path.js';
import type { Outcome, Saving } from './advice-result.js';
import { leastWithChanges } from './layouts.js';
import type { TimedVariant } from './measure-variants.js';
import { type Units, findUnits } from './units.js';
import { sessionKey } from './variants.js';

/** Least share of the time of today that is worth a setting. */
export const RESOLUTION = 0.02;

/** Bricks are within this of their kernels in a model in 95 % of cases (docs/advise.md, "Whether claims hold"). */
const PLACE = 0.04;

/** What the second side saves against the first, by the rounds in which both were measured; null without any. */
export function computeSaving(today: readonly number[], changed: readonly number[]): Saving | null {
  const rounds = today.flatMap((ms, at) => (changed[at] === undefined ? [] : [[ms, changed[at]] as const]));
  const ratio = pairedRatio(rounds);
  if (ratio === undefined) return null;
  const base = mean(rounds.map(([ms]) => ms));
  const share = 1 - ratio.ratio;
  const low = ratio.high === undefined ? null : base * (1 - ratio.high);
  const high = ratio.low === undefined ? null : base * (1 - ratio.low);
  return { saving_ms: base * share, low_ms: low, high_ms: high, share, seen: (low ?? 0) > 0 && share > RESOLUTION };
}

/** @param claimed by kernels. @param verified the same on the whole model */
export function judgeClaim(claimed: Saving, verified: Saving | null): Outcome | null {
  if (verified === null) return null;
  const lowest = ({ saving_ms: ms, low_ms: low }: Saving): number => low ?? ms;
  const highest = ({ saving_ms: ms, high_ms: high }: Saving): number => high ?? ms;
  const overlap = lowest(claimed) <= highest(verified) && lowest(verified) <= highest(claimed);
  if (!overlap) return 'does_not_hold';
  return (verified.low_ms ?? 0) > 0 ? 'holds' : 'not_seen';
}

export function computeTotals({ rounds }: TimedVariant): readonly number[] {
  return rounds.map(sumOf);
}

function meanMs({ rounds }: TimedVariant, kernel: number): number {
  return mean(rounds.map((round) => round[kernel] ?? 0));
}

/** The time of the kernels that the other variant does not have; of all of them, where the sessions differ. */
function differingMs(variant: TimedVariant, other: TimedVariant): number {
  const isSameSession = sessionKey(variant) === sessionKey(other);
  const signatures = ({ prepared: { recipe } }: TimedVariant) =>
    recipe.sequences.map((brick) => recipe.bricks[brick]?.signature);
  const shared = isSameSession ? signatures(other) : [];
  const left = new Map([...groupedBy(shared, (signature) => signature)].map(([key, { length }]) => [key, length]));
  const times = signatures(variant).map((signature, index) => {
    const count = left.get(signature) ?? 0;
    left.set(signature, count - 1);
    return count > 0 ? 0 : meanMs(variant, index);
  });
  return sumOf(times);
}

/** Kernels that both variants have are measured once, so only the others may differ from their place in the model. */
export function savingBetween(slow: TimedVariant, fast: TimedVariant): Saving | null {
  const saving = computeSaving(computeTotals(slow), computeTotals(fast));
  if (saving === null || saving.low_ms === null || saving.high_ms === null) return saving;
  const placeMs = PLACE * Math.max(differingMs(slow, fast), differingMs(fast, slow));
  const low = saving.saving_ms - Math.hypot(saving.saving_ms - saving.low_ms, placeMs);
  const high = saving.saving_ms + Math.hypot(saving.high_ms - saving.saving_ms, placeMs);
  return { ...saving, low_ms: low, high_ms: high, seen: saving.seen && low > 0 };
}

/** The unit of each kernel; one that the runtime added, such as a Cast, is in the unit of its reader. */
function unitsOfKernels({ graph, kernels }: TimedVariant, unitOf: readonly number[]): readonly (number | undefined)[] {
  const kernelUnits: (number | undefined)[] = graph.layers.map(() => undefined);
  const readers = new Map<string, number>();
  for (const [index, kernel] of [...graph.layers.entries()].reverse()) {
    const end = kernels.ends[index];
    const reader = kernel.outputs.map((output) => readers.get(output)).find((place) => place !== undefined);
    if (!isReorder(kernel)) kernelUnits[index] = end === undefined ? reader : unitOf[end];
    const unit = kernelUnits[index];
    if (unit !== undefined) for (const name of kernel.inputs) readers.set(name, unit);
  }
  return kernelUnits;
}

/** Mean times, Infinity where the variant has no kernel for the unit, and that of kernels that belong to no unit. */
function unitTimes(variant: TimedVariant, { units, unitOf }: Units) {
  const ms = units.map(() => Infinity);
  const blocked = units.map(() => false);
  let otherMs = 0;
  const kernelUnits = unitsOfKernels(variant, unitOf);
  for (const [index, kernel] of variant.graph.layers.entries()) {
    const time = meanMs(variant, index);
    const unit = kernelUnits[index];
    if (unit === undefined) {
      if (!isReorder(kernel)) otherMs += time;
      continue;
    }
    ms[unit] = (ms[unit] === Infinity ? 0 : (ms[unit] ?? 0)) + time;
    if (variant.kernels.blocked[index] === true && !isReorder(kernel)) blocked[unit] = true;
  }
  return { ms, blocked, otherMs };
}

/** Milliseconds of a change of layout for each byte; undefined where the model has none that could tell. */
function changeMsPerByte(variant: TimedVariant): number | undefined {
  const { graph } = variant;
  const found = graph.layers.flatMap((kernel, index) => {
    const type = isReorder(kernel) ? graph.types.get(kernel.outputs[0] ?? '') : undefined;
    return type === undefined ? [] : [{ bytes: tensorBytes(type), ms: meanMs(variant, index) }];
  });
  const bytes = sumOf(found.map((one) => one.bytes));
  return bytes === 0 ? undefined : sumOf(found.map(({ ms }) => ms)) / bytes;
}

/** Fields of a model's advice, and today's kernels with their edges, to draw them. */
export type Floors = ReturnType<typeof floorsOfUnits>;

function listChoices<T>([first, ...rest]: readonly T[]): readonly (readonly T[])[] {
  if (first === undefined) return [[]];
  return listChoices(rest).flatMap((choice) => [choice, [first, ...choice]]);
}

/** Longer fused kernels make units longer, with fewer choices, so the least over all choices of variants counts. */
export function computeFloors(source: LayerGraph, [today, ...others]: readonly TimedVariant[]): Floors {
  if (today === undefined) throw new PlatformError('internal', 'no variant');
  const all = listChoices(others).map((choice) => floorsOfUnits(source, today, [today, ...choice]));
  const leastBy = (ms: (floors: Floors) => number): Floors =>
    all.reduce((least, one) => (ms(one) < ms(least) ? one : least));
  const { floor_with_reorders_ms } = leastBy((one) => one.floor_with_reorders_ms ?? Infinity);
  return { ...leastBy((one) => one.floor_ms), floor_with_reorders_ms };
}

function floorsOfUnits(source: LayerGraph, today: TimedVariant, variants: readonly TimedVariant[]) {
  const units = findUnits(source, variants.map(({ kernels }) => kernels)); // prettier-ignore
  const measured = variants.map((variant) => unitTimes(variant, units));
  // A unit without a kernel in any variant is folded away.
  const isFolded = units.units.map((_, unit) => measured.every(({ ms }) => ms[unit] === Infinity));
  const times = measured.map((one) => ({ ...one, ms: one.ms.map((ms, unit) => (isFolded[unit] === true ? 0 : ms)) }));
  const [own] = times;
  const best = units.units.map((_, unit) => {
    const fastest = times.reduce(
      (at, one, index) => ((one.ms[unit] ?? 0) < (times[at]?.ms[unit] ?? 0) ? index : at),
      0,
    );
    return { ms: times[fastest]?.ms[unit] ?? 0, setting: variants[fastest]?.setting.name ?? '' };
  });
  const otherMs = own?.otherMs ?? 0;
  const freeMs = sumOf(best.map(({ ms }) => ms)) + otherMs;
  const perByte = changeMsPerByte(today);
  const isBlockedAnywhere = times.some(({ blocked }) => blocked.includes(true));
  const bytesOf = (names: readonly string[]): number =>
    sumOf(names.flatMap((name) => source.types.get(name) ?? []).map(tensorBytes));
  const layoutMs = (wanted: boolean): number[] =>
    units.units.map((_, unit) =>
      minOf(times.map(({ ms, blocked }) => (blocked[unit] === wanted ? (ms[unit] ?? 0) : Infinity))),
    );
  const withReorders = (rate: number): number => {
    const plain = layoutMs(false);
    const blocked = layoutMs(true);
    for (const [unit, ms] of blocked.entries()) blocked[unit] = ms + rate * bytesOf(units.leaving.get(unit) ?? []);
    const changes = units.edges.map(({ from, to, values }) => ({ from, to, cost: rate * bytesOf(values) }));
    return leastWithChanges({ plain, blocked, changes }) + otherMs;
  };
  const withReordersMs = !isBlockedAnywhere ? freeMs : perByte === undefined ? null : withReorders(perByte);
  const kernelUnits = unitsOfKernels(today, units.unitOf);
  const changesMs = today.graph.layers.flatMap((kernel, index) => (isReorder(kernel) ? [meanMs(today, index)] : []));
  const weights = today.graph.layers.map((kernel, index) => {
    if (isReorder(kernel)) return 0;
    const unit = kernelUnits[index] ?? -1;
    const ofUnit = own?.ms[unit] ?? 0;
    return ofUnit === 0 ? meanMs(today, index) : (meanMs(today, index) * (best[unit]?.ms ?? 0)) / ofUnit;
  });
  const path = longestPath(today.prepared.recipe, weights);
  const onPath = new Set(path);
  const parallelMs = sumOf(path.map((index) => weights[index] ?? 0));
  const rows = units.units.map((layers, unit) => ({
    operators: operatorsLabel(layers.map((layer) => source.layers[layer]?.opType ?? '')),
    shape: source.types.get(source.layers[layers.at(-1) ?? -1]?.outputs[0] ?? '')?.dims.join('x') ?? '',
    todayMs: own?.ms[unit] ?? 0,
    ...best[unit],
  }));
  const grouped = [...groupedBy(rows, ({ operators, shape, setting }) => `${operators} ${shape} ${setting}`).values()];
  return {
    floor_ms: freeMs,
    floor_with_reorders_ms: withReordersMs,
    parallel_floor_ms: parallelMs,
    parallelism: parallelMs === 0 ? 1 : sumOf(weights) / parallelMs,
    kernels: today.graph.layers.map(({ name, opType }, index) => {
      return { name, operator: opType, ms: weights[index] ?? 0, isOnLongestPath: onPath.has(index) };
    }),
    edges: today.prepared.recipe.edges,
    units: [
      ...grouped.map((of) => ({
        operators: `${of[0].operators}${of[0].shape === '' ? '' : ` ${of[0].shape}`}`,
        units: of.length,
        today_ms: sumOf(of.map(({ todayMs }) => todayMs)),
        best_ms: sumOf(of.map(({ ms = 0 }) => ms)),
        setting: of[0].setting ?? '',
      })),
      ...(changesMs.length === 0 || withReordersMs === null
        ? []
        : [
            {
              operators: 'changes of layout',
              units: changesMs.length,
              today_ms: sumOf(changesMs),
              best_ms: withReordersMs - freeMs,
              setting: 'the least time with them',
            },
          ]),
    ].toSorted((a, b) => b.today_ms - b.best_ms - (a.today_ms - a.best_ms)),
  };
}

/** Kernels that only pass over their values, once each. */
const ELEMENTWISE: ReadonlySet<string> = new Set(
  'Relu LeakyRelu Clip Sigmoid Tanh HardSigmoid HardSwish Elu Gelu FastGelu QuickGelu Erf Exp Sqrt Pow Neg Abs Add Sub Mul Div Where'.split(
    ' ',
  ),
);

/** Neighbouring kernels that the runtime could compute in one pass, and does not. */
export function possibleFusion({ graph }: Pick<TimedVariant, 'graph'>, peaks: Peaks) {
  const readers = new Map<string, number>();
  const read = [...graph.layers.flatMap(({ inputs }) => inputs), ...graph.outputs];
  for (const name of read) readers.set(name, (readers.get(name) ?? 0) + 1);
  const makers = new Map(graph.layers.flatMap((kernel) => kernel.outputs.map((output) => [output, kernel] as const)));
  let chains = 0;
  let bytes = 0;
  for (const kernel of graph.layers) {
    if (!ELEMENTWISE.has(kernel.opType)) continue;
    for (const name of new Set(kernel.inputs)) {
      const before = makers.get(name);
      const type = graph.types.get(name);
      if (before === undefined || type === undefined || !ELEMENTWISE.has(before.opType) || readers.get(name) !== 1)
        continue;
      if (elementCount(type.dims) < 2) continue;
      chains++;
      // Written once and read once.
      bytes += 2 * tensorBytes(type);
    }
  }
  const bandwidth = peaks.get('memory')?.value;
  const mostMs = bandwidth === undefined ? null : bytes / bandwidth / 1e6;
  return { possible_chains: chains, possible_bytes: bytes, possible_most_ms: mostMs };
}
