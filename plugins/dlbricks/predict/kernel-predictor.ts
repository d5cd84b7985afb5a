import { CholeskyDecomposition, Matrix } from 'ml-matrix';
import { counted, groupedBy, sumOf } from '../../../src/plugin-api.js';
import type { LayerFacts } from '../work/layer-facts.js';
import { type KernelFeatures, kernelFeatures } from './kernel-features.js';

/*
 * Latencies of kernels that were not measured, from measured kernels of the same operator on the same system. On a
 * logarithmic scale: operations and bytes, then a ridge regression (Hoerl and Kennard, 1970) over the features, then
 * the errors of the nearest measured kernels, interpolated by kriging (Cressie, Statistics for Spatial Data, 1993,
 * section 3.2) with a neighborhood that moves.
 */

export interface MeasuredKernel {
  readonly facts: LayerFacts;
  readonly footprintBytes: number;
  readonly ms: number;
  /** A model that has it; kernels of one model are left out together where errors are estimated. */
  readonly model: string;
}

export interface Prediction {
  readonly kind: 'predicted';
  readonly ms: number;
  readonly ownError: number;
}

export interface Unknown {
  readonly kind: 'unknown';
  readonly reason: string;
}

/** The error that all predictions of a model have in common, relative. */
export interface CommonError {
  readonly relative: number;
  readonly degreesOfFreedom: number;
}

const MIN_KERNELS = 3;

/** Most kernels of an operator that are used; of more, an evenly spaced selection. */
const MAX_KERNELS = 1024;

const MAX_NEIGHBORS = 40;

/** Most kernels of an operator that its errors are estimated by; of more, an evenly spaced selection. */
const MAX_CHECKED = 200;

const MIN_MODELS = 3;

/** Standard deviations of a measurement: relative, and of the subtracted cost of the profile in ms. */
const NOISE = 0.05;
const NOISE_MS = 0.001;

/** Variance of the errors of the regression, and the distance, in logarithms, at which they are no longer alike. */
const VARIANCE = 0.3 ** 2;
const DISTANCE = 1;

/** Weight of the assumption that work alone decides the latency, relative to a measurement. */
const RIDGE = 0.3;

interface Point extends KernelFeatures {
  readonly logMs: number;
  readonly ms: number;
  readonly model: string;
}

function noiseOf({ ms }: { readonly ms: number }): number {
  return NOISE ** 2 + (NOISE_MS / ms) ** 2;
}

function dot(one: readonly number[], other: readonly number[]): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
}

class Fit {
  private readonly used: readonly number[];
  private readonly centers: readonly number[];
  private readonly decomposition: CholeskyDecomposition;
  private readonly coefficients: readonly number[];
  private readonly errors: readonly number[];

  /** @param points at least one, with the same key */
  constructor(private readonly points: readonly Point[]) {
    const [{ values: { length = 0 } = [] } = {}] = points;
    const columns = Array.from({ length }, (_, column) => points.map(({ values }) => values[column] ?? 0));
    this.centers = columns.map((column) => sumOf(column) / column.length);
    this.used = [...columns.keys()].filter((column) => new Set(columns[column]).size > 1);
    // Each row by the reciprocal of its deviation, so that the product with itself is exactly symmetric.
    const scales = points.map((point) => 1 / Math.sqrt(noiseOf(point)));
    const rows = new Matrix(points.map((point) => this.rowOf(point))).mulColumnVector(scales);
    const prior = this.used.map(() => RIDGE / NOISE ** 2);
    const normal = rows
      .transpose()
      .mmul(rows)
      .add(Matrix.diag([1, ...prior]));
    this.decomposition = new CholeskyDecomposition(normal);
    const excesses = Matrix.columnVector(points.map(excessOf)).mulColumnVector(scales);
    const right = rows.transpose().mmul(excesses);
    this.coefficients = this.decomposition.solve(right).to1DArray();
    this.errors = points.map((point) => excessOf(point) - dot(this.rowOf(point), this.coefficients));
  }

  private rowOf({ values }: KernelFeatures): number[] {
    return [1, ...this.used.map((column) => (values[column] ?? 0) - (this.centers[column] ?? 0))];
  }

  /** A loop, because most of the time of a prediction is spent here. */
  private distance({ values: one }: KernelFeatures, { values: other }: KernelFeatures): number {
    let squares = 0;
    for (const column of this.used) squares += ((one[column] ?? 0) - (other[column] ?? 0)) ** 2;
    return Math.sqrt(squares);
  }

  expect(kernel: KernelFeatures) {
    const row = this.rowOf(kernel);
    const ofTrend = dot(row, this.decomposition.solve(Matrix.columnVector(row)).to1DArray());
    const near = this.points
      .map((point, index) => ({ point, error: this.errors[index] ?? 0, away: this.distance(kernel, point) }))
      .sort((a, b) => a.away - b.away)
      .slice(0, MAX_NEIGHBORS);
    const alike = (away: number): number => VARIANCE * Math.exp(-away / DISTANCE);
    const covariances = near.map(({ point: one }, at) => {
      return near.map(
        ({ point: other }, index) => alike(this.distance(one, other)) + (at === index ? noiseOf(one) : 0),
      );
    });
    const toKernel = near.map(({ away }) => alike(away));
    const weights = new CholeskyDecomposition(new Matrix(covariances)).solve(Matrix.columnVector(toKernel)).to1DArray();
    const error = dot(
      weights,
      near.map((neighbor) => neighbor.error),
    );
    const logMs = Math.log(kernel.roughMs) + dot(row, this.coefficients) + error;
    const variance = Math.max(0, VARIANCE - dot(weights, toKernel)) + ofTrend + noiseOf({ ms: Math.exp(logMs) });
    return { logMs, variance };
  }
}

/** The logarithm of a measured latency over the one by work alone. */
function excessOf({ logMs, roughMs }: Point): number {
  return logMs - Math.log(roughMs);
}

function evenlySpread<T>(values: readonly T[], most: number): readonly T[] {
  if (values.length <= most) return values;
  return Array.from({ length: most }, (_, index) => values[Math.floor((index * values.length) / most)] as T);
}

type Checked = ReturnType<typeof checkedBy>[number];

/** The points of an operator, each predicted from the models without it; where there are no others, from all others. */
function checkPredictions(points: readonly Point[]): readonly Checked[] {
  const chosen = evenlySpread(points, MAX_CHECKED);
  const ofModels = [...groupedBy(chosen, ({ model }) => model).values()];
  const checked = ofModels.flatMap((own) => {
    const others = points.filter(({ model }) => model !== own[0]?.model);
    return others.length < MIN_KERNELS ? [] : checkedBy(new Fit(others), own);
  });
  if (checked.length > 0) return checked;
  return chosen.flatMap((point) => checkedBy(new Fit(points.filter((other) => other !== point)), [point]));
}

/** Error: logarithm of measured over predicted. */
function checkedBy(fit: Fit, points: readonly Point[]) {
  return points.map((point) => {
    const { logMs, variance } = fit.expect(point);
    return { point, error: point.logMs - logMs, variance };
  });
}

type Operator = ReturnType<typeof fitOperator>;

/** Kernels with more time say more about a model. */
function timeOf({ point: { ms } }: Checked): number {
  return ms;
}

/** Scale: measured over expected standard deviation. */
function fitOperator(points: readonly Point[]) {
  const checked = checkPredictions(points);
  const squares = sumOf(checked.map((one) => (timeOf(one) * one.error ** 2) / one.variance));
  return { fit: new Fit(points), scale: Math.sqrt(squares / sumOf(checked.map(timeOf))), checked };
}

export class KernelPredictor {
  private readonly points: ReadonlyMap<string, readonly Point[]>;
  private readonly operators = new Map<string, Operator>();
  private common: CommonError | undefined;

  constructor(measured: readonly MeasuredKernel[]) {
    const points = measured.flatMap(({ facts, footprintBytes, ms, model }): Point[] => {
      const features = ms > 0 ? kernelFeatures(facts, footprintBytes) : undefined;
      return features === undefined ? [] : [{ ...features, ms, logMs: Math.log(ms), model }];
    });
    const byKey = [...groupedBy(points, ({ key }) => key)];
    this.points = new Map(byKey.map(([key, all]) => [key, evenlySpread(all, MAX_KERNELS)]));
  }

  private findOperator(key: string): Operator | undefined {
    const points = this.points.get(key) ?? [];
    if (points.length < MIN_KERNELS) return undefined;
    const known = this.operators.get(key) ?? fitOperator(points);
    this.operators.set(key, known);
    return known;
  }

  /**
   * The latency of a brick: the sum over its kernels.
   *
   * @param footprintBytes see Context; 0 where it would be measured alone
   */
  predict(kernels: readonly LayerFacts[], footprintBytes: number): Prediction | Unknown {
    let ms = 0;
    let variance = 0;
    for (const facts of kernels) {
      if (facts.isSteered === true) return none(`cannot be predicted: values decide the work of ${facts.operator}`);
      const features = kernelFeatures(facts, footprintBytes);
      if (features === undefined) return none(`the shapes of ${facts.operator} are not known`);
      const operator = this.findOperator(features.key);
      if (operator === undefined) {
        const count = this.points.get(features.key)?.length ?? 0;
        return none(
          `cannot be predicted: ${counted(count, `kernel like this ${facts.operator} was`, `kernels like this ${facts.operator} were`)} measured undisturbed on this system, and ${MIN_KERNELS} are needed`,
        );
      }
      const expected = operator.fit.expect(features);
      const kernelMs = Math.exp(expected.logMs);
      ms += kernelMs;
      variance += (kernelMs * operator.scale) ** 2 * expected.variance;
    }
    return { kind: 'predicted', ms, ownError: ms > 0 ? Math.sqrt(variance) / ms : 0 };
  }

  /**
   * What the errors of all predictions of a model have in common: the variance of the mean error of models that were
   * left out, less what the kernels' own errors explain of it. With few models, all errors count as common.
   */
  get commonError(): CommonError {
    this.common ??= this.estimateCommon();
    return this.common;
  }

  private estimateCommon(): CommonError {
    const all = [...this.points.keys()].flatMap((key) => {
      const operator = this.findOperator(key);
      return (operator?.checked ?? []).map((checked) => ({ checked, scale: operator?.scale ?? 1 }));
    });
    const time = (of: Readonly<typeof all>): number => sumOf(of.map(({ checked }) => timeOf(checked)));
    const models = [...groupedBy(all, ({ checked }) => checked.point.model).values()];
    if (models.length < MIN_MODELS) {
      const squares = sumOf(all.map(({ checked }) => timeOf(checked) * checked.error ** 2));
      return {
        relative: Math.sqrt(squares / Math.max(time(all), Number.MIN_VALUE)),
        degreesOfFreedom: Math.max(1, all.length - 1),
      };
    }
    const squares = models.map((of) => {
      const mean = sumOf(of.map(({ checked }) => timeOf(checked) * checked.error)) / time(of);
      const own = sumOf(of.map(({ checked, scale }) => (timeOf(checked) * scale) ** 2 * checked.variance));
      return mean ** 2 - own / time(of) ** 2;
    });
    const variance = sumOf(squares) / squares.length;
    return { relative: Math.sqrt(Math.max(0, variance)), degreesOfFreedom: models.length };
  }
}

function none(reason: string): Unknown {
  return { kind: 'unknown', reason };
}
