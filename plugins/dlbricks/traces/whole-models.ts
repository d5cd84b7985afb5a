import { type ErrorSource, type Interval, marginOf } from '../estimate/statistics.js';
import type { TracedSum } from './estimate-from-traces.js';
import type { Reuse } from './find-occurrences.js';

/** Fewest other models that the error of estimates is learned from. */
const FEWEST_MODELS = 3;

/** Of an estimate whose parts claim to be exact, so that none has all the weight: 0.1 %. */
const LEAST_VARIANCE = 1e-6;

/** What the other models' whole latencies tell of an estimate. */
export interface WholeModels {
  /** How many there were to learn from. */
  readonly models: number;
  /** What estimates have to be multiplied by to be whole latencies, in the middle; 1 where it was not asked for. */
  readonly factor: number;
  /** Errors of the logarithm of an estimate beyond those of its parts. */
  readonly errors: readonly ErrorSource[];
}

/** Variance of a sum by its parts alone, of its logarithm. */
function varianceOf({ errors = [] }: TracedSum): number {
  return errors.reduce((sum, { deviationMs }) => sum + deviationMs ** 2, 0);
}

/**
 * A model is not quite the sum of its layers. How far, the traces' other models tell: those whose whole latency is known and
 * whose estimate covers them. What their errors have beyond what their parts explain (the moment of DerSimonian and Laird, Controlled
 * Clinical Trials 7, 1986: surer estimates count more) is what the estimate of this one may be off as well.
 *
 * @param others estimates of other models, made like this one
 * @param calibrate whether the middle of their errors is taken out; where not, it counts as error
 * @returns undefined where there are too few of them
 */
export function learnFromWholeModels(others: readonly TracedSum[], calibrate: boolean): WholeModels | undefined {
  const known = others.flatMap((sum) => {
    const { ms, coverage, target } = sum;
    if (ms === undefined || ms <= 0 || coverage < 1 || target.wholeMs === undefined || target.wholeMs <= 0) return [];
    return [{ error: Math.log(target.wholeMs / ms), explained: varianceOf(sum) }];
  });
  if (known.length < FEWEST_MODELS) return undefined;
  const total = (of: (model: (typeof known)[number]) => number): number =>
    known.reduce((sum, model) => sum + of(model), 0);
  const weightOf = ({ explained }: (typeof known)[number]): number => 1 / Math.max(explained, LEAST_VARIANCE);
  const weights = total(weightOf);
  const mean = calibrate ? total((model) => weightOf(model) * model.error) / weights : 0;
  const squares = total((model) => weightOf(model) * (model.error - mean) ** 2);
  const degreesOfFreedom = calibrate ? known.length - 1 : known.length;
  const perBeyond = calibrate ? weights - total((model) => weightOf(model) ** 2) / weights : weights;
  const beyond = Math.max(0, (squares - degreesOfFreedom) / perBeyond);
  if (!calibrate)
    return { models: known.length, factor: 1, errors: [{ deviationMs: Math.sqrt(beyond), degreesOfFreedom }] };
  const balanced = ({ explained }: (typeof known)[number]): number => 1 / Math.max(explained + beyond, LEAST_VARIANCE);
  const center = total((model) => balanced(model) * model.error) / total(balanced);
  return {
    models: known.length,
    factor: Math.exp(center),
    errors: [{ deviationMs: Math.sqrt(beyond + 1 / total(balanced)), degreesOfFreedom }],
  };
}

/**
 * The interval in which the whole model's latency is expected; in logarithms the estimate is in its middle. There is none
 * where neither several processes nor whole models tell how far estimates are off.
 *
 * @param reuse whose measurements the estimate is made of; of a model's own, its own process tells nothing of others
 */
export function intervalOf(sum: TracedSum, learned: WholeModels | undefined, reuse: Reuse): Interval | undefined {
  if (sum.ms === undefined) return undefined;
  const ms = sum.ms * (learned?.factor ?? 1);
  const isKnown = learned !== undefined || (sum.errors !== undefined && reuse !== 'own');
  if (!isKnown) return { ms, lowMs: undefined, highMs: undefined };
  const margin = marginOf([...(sum.errors ?? []), ...(learned?.errors ?? [])]);
  return { ms, lowMs: ms * Math.exp(-margin), highMs: ms * Math.exp(margin) };
}
