import { type ErrorSource, type Interval, marginOf } from '../estimate/statistics.js';
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

/** Variance of a sum's logarithm by its parts alone. */
function varianceOf({ errors = [] }: TracedSum): number {
  return errors.reduce((sum, { deviationMs }) => sum + deviationMs ** 2, 0);
}

/**
 * Learns the error of estimates from the traces' other models with a known whole latency and full coverage: a model is
 * not exactly the sum of its layers. The errors of the layers do not explain all of a model's error. The unexplained
 * part (the moment of DerSimonian and Laird, Controlled Clinical Trials 7, 1986: more certain estimates count more) is
 * added to the error of this estimate.
 *
 * @param others estimates of other models, by the same settings
 * @param calibrate whether the estimate is corrected by their median error; otherwise it counts as error
 * @returns undefined where there are too few other models
 */
export function learnFromWholeModels(others: readonly TracedSum[], calibrate: boolean): WholeModels | undefined {
  const known = others.flatMap((sum) => {
    const { ms, coverage, target } = sum;
    if (ms === undefined || ms <= 0 || coverage < 1 || target.wholeMs === undefined || target.wholeMs <= 0) return [];
    return [{ error: Math.log(target.wholeMs / ms), explained: varianceOf(sum) }];
  });
  if (known.length < MIN_MODELS) return undefined;
  const total = (of: (model: (typeof known)[number]) => number): number =>
    known.reduce((sum, model) => sum + of(model), 0);
  const weightOf = ({ explained }: (typeof known)[number]): number => 1 / Math.max(explained, MIN_VARIANCE);
  const weights = total(weightOf);
  const mean = calibrate ? total((model) => weightOf(model) * model.error) / weights : 0;
  const squares = total((model) => weightOf(model) * (model.error - mean) ** 2);
  const degreesOfFreedom = calibrate ? known.length - 1 : known.length;
  const perBeyond = calibrate ? weights - total((model) => weightOf(model) ** 2) / weights : weights;
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
 * The interval in which the whole model's latency is expected; the estimate is its middle on a logarithmic scale. There
 * is no interval where the traces have neither several processes nor whole models.
 *
 * @param reuse the measurements that the estimate uses; a model's own process does not show the spread between
 *   processes
 */
export function intervalOf(sum: TracedSum, learned: WholeModels | undefined, reuse: Reuse): Interval | undefined {
  if (sum.ms === undefined) return undefined;
  const ms = sum.ms * (learned?.factor ?? 1);
  const isKnown = learned !== undefined || (sum.errors !== undefined && reuse !== 'own');
  if (!isKnown) return { ms, lowMs: undefined, highMs: undefined };
  const margin = marginOf([...(sum.errors ?? []), ...(learned?.errors ?? [])]);
  return { ms, lowMs: ms * Math.exp(-margin), highMs: ms * Math.exp(margin) };
}
