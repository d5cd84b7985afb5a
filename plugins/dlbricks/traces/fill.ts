import { median } from '../estimate/statistics.js';
import type { LayerFacts } from '../work/layer-facts.js';
import { type LayerWork, countWork } from '../work/layer-work.js';
import type { Occurrence } from './trace-book.js';

export interface Filled {
  readonly ms: number;
  /** Standard deviation of the logarithm of `ms`, over measured layers, each estimated from the others. */
  readonly spread: number;
  readonly degreesOfFreedom: number;
}

interface Point {
  readonly work: LayerWork;
  readonly ms: number;
  readonly models: ReadonlySet<string>;
  /** Logarithm of measured over predicted. */
  readonly residual: number;
}

/** Fewest different layers that an operator's time is estimated from. */
const MIN_LAYERS = 3;

/** Most different layers that it is estimated from; of more layers, an evenly spaced selection is used. */
const MAX_LAYERS = 1024;

/** Layers closer than this, in logarithms of work, count as equal. */
const NEAREST = 0.05;

/** Milliseconds: fixed, for each operation, for each byte; none of them negative. */
type Costs = readonly [fixed: number, perOperation: number, perByte: number];

function predicted([fixed, perOperation, perByte]: Costs, { operations, bytes }: LayerWork): number {
  return fixed + perOperation * operations + perByte * bytes;
}

/** Solves a symmetric system of at most three equations by elimination; undefined where it has no single solution. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] | undefined {
  const rows = matrix.map((row, i) => [...row, right[i] ?? 0]);
  const size = rows.length;
  for (let pivot = 0; pivot < size; pivot++) {
    const best = rows.slice(pivot).reduce((a, b) => (Math.abs(b[pivot] ?? 0) > Math.abs(a[pivot] ?? 0) ? b : a));
    const value = best[pivot] ?? 0;
    if (Math.abs(value) < 1e-12) return undefined;
    rows.splice(rows.indexOf(best), 1);
    rows.splice(pivot, 0, best);
    for (const row of rows) {
      if (row === best) continue;
      const factor = (row[pivot] ?? 0) / value;
      for (let column = pivot; column <= size; column++)
        row[column] = (row[column] ?? 0) - factor * (best[column] ?? 0);
    }
  }
  return rows.map((row, i) => (row[size] ?? 0) / (row[i] ?? 1));
}

/** Every choice of costs that may differ from zero. */
const SUBSETS: readonly (readonly number[])[] = [[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]];

/**
 * The non-negative costs with the least sum of squared relative errors: the best solution without a negative cost among
 * the seven unconstrained fits that leave some costs out. This is exact for so few costs.
 */
function fitCosts(points: readonly Pick<Point, 'work' | 'ms'>[]): Costs {
  // Scaled, so that all columns are of one order of magnitude.
  const scales = [
    1,
    ...(['operations', 'bytes'] as const).map((key) => Math.max(...points.map(({ work }) => work[key]), 1)),
  ];
  const rows = points.map(({ work, ms }) =>
    [1, work.operations, work.bytes].map((value, i) => value / (scales[i] ?? 1) / ms),
  );
  let best: { readonly costs: Costs; readonly error: number } | undefined;
  for (const subset of SUBSETS) {
    const matrix = subset.map((i) =>
      subset.map((j) => rows.reduce((sum, row) => sum + (row[i] ?? 0) * (row[j] ?? 0), 0)),
    );
    const right = subset.map((i) => rows.reduce((sum, row) => sum + (row[i] ?? 0), 0));
    const solution = solve(matrix, right);
    if (solution === undefined || solution.some((cost) => cost < 0)) continue;
    const scaled = [0, 0, 0];
    for (const [i, column] of subset.entries()) scaled[column] = solution[i] ?? 0;
    const error = rows.reduce(
      (sum, row) => sum + (row.reduce((expected, value, i) => expected + value * (scaled[i] ?? 0), 0) - 1) ** 2,
      0,
    );
    if (best !== undefined && error >= best.error) continue;
    const [fixed = 0, perOperation = 0, perByte = 0] = scaled.map((cost, i) => cost / (scales[i] ?? 1));
    best = { costs: [fixed, perOperation, perByte], error };
  }
  return best?.costs ?? [0, 0, 0];
}

/** Distance between the work of two layers: their operations and the sizes of their tensors, in logarithms. */
function distance(a: LayerWork, b: LayerWork): number {
  const ratio = (x: number, y: number): number => Math.log((x + 1) / (y + 1));
  const tensors =
    a.tensorBytes.length === b.tensorBytes.length && a.tensorBytes.length > 0
      ? a.tensorBytes.map((bytes, i) => ratio(bytes, b.tensorBytes[i] ?? 0))
      : [ratio(a.bytes, b.bytes)];
  return Math.hypot(ratio(a.operations, b.operations), ...tensors);
}

/**
 * How far the most similar layers are from the fit, as a logarithm. Closer layers have more weight. A layer whose work
 * differs by a factor of e has the same weight as the prior assumption that the fit is right (a residual of 0).
 */
function residualNear(work: LayerWork, points: readonly Point[]): number {
  let sum = 0;
  let weights = 1;
  for (const point of points) {
    const weight = Math.max(distance(work, point.work), NEAREST) ** -2;
    sum += weight * point.residual;
    weights += weight;
  }
  return sum / weights;
}

function sharesModel(a: Point, b: Point): boolean {
  for (const model of a.models) if (b.models.has(model)) return true;
  return false;
}

interface OperatorFit {
  readonly costs: Costs;
  readonly points: readonly Point[];
  readonly spread: number;
}

function evenlySpread<T>(values: readonly T[], most: number): readonly T[] {
  if (values.length <= most) return values;
  return Array.from({ length: most }, (_, i) => values[Math.floor((i * values.length) / most)] as T);
}

function fitOperator(occurrences: readonly Occurrence[]): OperatorFit | undefined {
  const layers = new Map<string, { readonly work: LayerWork; readonly ms: number[]; readonly models: Set<string> }>();
  for (const { identity, layers: facts, ms, model } of occurrences) {
    const [only] = facts;
    const work = only === undefined ? undefined : countWork(only);
    if (work === undefined || ms <= 0) continue;
    const layer = layers.get(identity) ?? { work, ms: [], models: new Set<string>() };
    layers.set(identity, layer);
    layer.ms.push(ms);
    layer.models.add(model);
  }
  if (layers.size < MIN_LAYERS) return undefined;
  const measured = evenlySpread([...layers.values()], MAX_LAYERS).map(({ work, ms, models }) => ({
    work,
    ms: median(ms),
    models,
  }));
  const costs = fitCosts(measured);
  const points = measured.map((point): Point => ({
    ...point,
    residual: Math.log(point.ms / Math.max(predicted(costs, point.work), 1e-9)),
  }));
  // The estimate is for a layer of another model, so layers of its own models are left out.
  const errors = points.map(
    (point) =>
      point.residual -
      residualNear(
        point.work,
        points.filter((other) => !sharesModel(point, other)),
      ),
  );
  const parameters = costs.filter((cost) => cost > 0).length;
  const degreesOfFreedom = Math.max(1, points.length - parameters);
  const spread = Math.sqrt(errors.reduce((sum, error) => sum + error ** 2, 0) / degreesOfFreedom);
  return { costs, points, spread };
}

/**
 * Estimates the time of unmeasured layers from measured ones with the same operator: a cost for each call, each
 * operation and each byte (a roofline whose sides add up), corrected by the error of the fit for the most similar
 * layers.
 */
export class FillModel {
  private readonly byOperator = new Map<string, Occurrence[]>();
  private readonly fits = new Map<string, OperatorFit | undefined>();

  /** @param occurrences the measurements to use; those of several layers at once are ignored */
  constructor(occurrences: readonly Occurrence[]) {
    for (const occurrence of occurrences) {
      const [only, second] = occurrence.layers;
      if (only === undefined || second !== undefined) continue;
      const list = this.byOperator.get(only.operator) ?? [];
      this.byOperator.set(only.operator, list);
      list.push(occurrence);
    }
  }

  /** undefined where too little is known about the layer, or too few layers of its operator were measured. */
  timeOf(layer: LayerFacts): Filled | undefined {
    const work = countWork(layer);
    const fit = this.fitOf(layer.operator);
    if (work === undefined || fit === undefined) return undefined;
    const ms = predicted(fit.costs, work) * Math.exp(residualNear(work, fit.points));
    return { ms, spread: fit.spread, degreesOfFreedom: Math.max(1, fit.points.length - 3) };
  }

  private fitOf(operator: string): OperatorFit | undefined {
    if (!this.fits.has(operator)) this.fits.set(operator, fitOperator(this.byOperator.get(operator) ?? []));
    return this.fits.get(operator);
  }
}
