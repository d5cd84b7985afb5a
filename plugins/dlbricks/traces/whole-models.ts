import { sumOf } from '../../../src/plugin-api.js';
import { type ErrorSource, type Interval, computeMargin } from '../estimate/statistics.js';
import type { TracedSum } from './estimate-from-traces.js';
import type { Reuse } from './find-occurrences.js';

/** Fewest other models from which the error of estimates is learned. */
const MIN_MODELS = 3;

/** Least error of an estimate, 0.1 %, so that an estimate with exact parts does not get all the weight. */
const MIN_VARIANCE = 1e-6;

export interface WholeModels {
  readonly models: number;
  /** Median ratio of whole latency to estimate, by which estimates are multiplied; 1 where this was not requested. */
  readonly factor: number;
  /** Errors of the logarithm of an estimate beyond those of its parts. */
  readonly errors: readonly ErrorSource[];
}

/**
 * Learns the error of estimates from other models with a known whole latency and full coverage. The part that the
 * errors of layers do not explain is added (the moment of DerSimonian and Laird, Controlled Clinical Trials 7, 1986:
 * more certain estimates count more).
 *
 * @param calibrate whether the estimate is corrected by their median error; otherwise it counts as error
 * @returns undefined where there are too few other models
 */
export function learnFromWholeModels(others: readonly TracedSum[], calibrate: boolean): WholeModels | undefined {
  const known = others.flatMap(({ ms, coverage, target, errors = [] }) => {
    if (ms === undefined || ms <= 0 || coverage < 1 || target.wholeMs === undefined || target.wholeMs <= 0) return [];
    return [
      { error: Math.log(target.wholeMs / ms), explained: sumOf(errors.map(({ deviationMs }) => deviationMs ** 2)) },
    ];
  });
  if (known.length < MIN_MODELS) return undefined;
  const total = (of: (model: (typeof known)[number]) => number): number => sumOf(known.map(of));
  const computeWeight = ({ explained }: (typeof known)[number]): number => 1 / Math.max(explained, MIN_VARIANCE);
  const weights = total(computeWeight);
  const mean = calibrate ? total((model) => computeWeight(model) * model.error) / weights : 0;
  const squares = total((model) => computeWeight(model) * (model.error - mean) ** 2);
  const degreesOfFreedom = calibrate ? known.length - 1 : known.length;
  const perBeyond = calibrate ? weights - total((model) => computeWeight(model) ** 2) / weights : weights;
  const beyond = Math.max(0, (squares - degreesOfFreedom) / perBeyond);
  if (!calibrate)
    return { models: known.length, factor: 1, errors: [{ deviationMs: Math.sqrt(beyond), degreesOfFreedom }] };
  const balanced = ({ explained }: (typeof known)[number]): number => 1 / Math.max(explained + beyond, MIN_VARIANCE);
  const center = total((model) => balanced(model) * model.error) / total(balanced);
  return {
    models: known.length,
    factor: Math.exp(center),
    errors: [{ deviationMs: Math.sqrt(beyond + 1 / total(balanced)), degreesOfFreedom }],
  };
}

/**
 * The estimate is its middle on a logarithmic scale.
 *
 * @param reuse a model's own process does not show the spread between processes
 */
export function computeInterval(sum: TracedSum, learned: WholeModels | undefined, reuse: Reuse): Interval | undefined {
  if (sum.ms === undefined) return undefined;
  const ms = sum.ms * (learned?.factor ?? 1);
  const isKnown = learned !== undefined || (sum.errors !== undefined && reuse !== 'own');
  if (!isKnown) return { ms, lowMs: undefined, highMs: undefined };
  const margin = computeMargin([...(sum.errors ?? []), ...(learned?.errors ?? [])]);
  return { ms, lowMs: ms * Math.exp(-margin), highMs: ms * Math.exp(margin) };
}
