import { hypotOf, sumOf } from '../../../src/plugin-api.js';
import type { CommonError, Prediction } from '../predict/kernel-predictor.js';
import type { BrickLatency } from './brick-latency.js';
import {
  type ErrorSource,
  errorsWithinRuns,
  type Interval,
  intervalAround,
  type Level,
  LEVELS,
  computeMargin,
  type Spread,
  standardDeviation,
  type Summary,
  sumWithInterval,
} from './statistics.js';
import { spreadOfBrick, type VarianceComponents } from './variance-components.js';

/**
 * The method's own error: a model is not exactly the sum of its bricks, however well they are measured. A standard
 * deviation, one part relative to the latency, one for each kernel, which all have in common. docs/measuring.md,
 * "Occasions and intervals", has the models that they were estimated from.
 */
const METHOD_ERROR = { relative: 0.012, kernelMs: 0.002 } as const;

/**
 * How exactly the cost of the profile is known, as a standard deviation relative to it: after real kernels, an event
 * costs about a microsecond more or less than an idle one, which costs two to three.
 */
export const PROFILE_ERROR = 0.5;

/** Standard deviation of a call between processes, relative to it: 7 % in a quiet hour, 24 % in a busy one. */
const CALL_ERROR = 0.2;

/** While another machine computes on the same core (docs/measuring.md, "A core that another machine shares"). */
const SLOWDOWN_ON_SHARED_CORE = 1.3;

/** `validate` measures a whole model at two times, and the mean counts. */
const OCCASIONS_OF_WHOLE = 2;

/** Occasions with a longer pause between them are of different times: then the machine may be in another state. */
const PAUSE_MS = 30_000;

/** The part of the error of times that their mean keeps: 1 for bricks of one time, a half for those of two. */
function shareOfTimes(bricks: readonly (readonly [ms: number, endsMs: readonly number[]])[]): number {
  const allMs = Math.max(sumOf(bricks.map(([ms]) => ms)), Number.MIN_VALUE);
  const parts = bricks.flatMap(([ms, ends]) => ends.map((endMs) => ({ endMs, part: ms / ends.length / allMs })));
  let squares = 0;
  let part = 0;
  let before = NaN;
  for (const next of parts.toSorted((a, b) => a.endMs - b.endMs)) {
    if (next.endMs - before > PAUSE_MS) {
      squares += part ** 2;
      part = 0;
    }
    part += next.part;
    before = next.endMs;
  }
  return squares + part ** 2;
}

export interface Spreads {
  readonly bricks: VarianceComponents;
  /** Between occasions of whole models; undefined where none is known. */
  readonly wholes?: Spread | undefined;
  /** Between the machines of the measurements, where there are several. */
  readonly machines?: Spread | undefined;
}

export interface Margin {
  readonly level: Level;
  readonly ms: number;
}

export interface Uncertainty {
  /** At the project's confidence level. */
  readonly interval: Interval;
  readonly margins: readonly Margin[];
  /** Half width of an interval with only what further occasions reduce, relative; undefined where not known. */
  readonly measuringError: number | undefined;
  /** Half width of the interval if bricks were measured exactly, relative; undefined where not known. */
  readonly leastError: number | undefined;
}

export interface MeasuredSum {
  readonly terms: readonly { readonly latency: BrickLatency; readonly count: number }[];
  readonly predicted?: readonly { readonly prediction: Prediction; readonly count: number }[] | undefined;
  readonly commonError?: CommonError | undefined;
  /** That all bricks have together, measured and predicted. Those of a brick that is measured as copies count as one. */
  readonly kernels: number;
  readonly calls: readonly Summary[];
}

/** Factors of both variance components in the variance of a sum of bricks; squared milliseconds. */
export interface Factors {
  readonly common: number;
  readonly own: number;
}

/** A brick's time in a model, and the processes that measured it. */
export type Part = readonly [ms: number, processes: readonly string[]];

/** Factors of the mean over occasions. Bricks of one process have an error in common. */
export function computeFactors(parts: readonly Part[]): Factors {
  const ofProcess = new Map<string, number>();
  let own = 0;
  for (const [ms, processes] of parts) {
    own += ms ** 2 / processes.length;
    for (const process of processes) ofProcess.set(process, (ofProcess.get(process) ?? 0) + ms / processes.length);
  }
  return { common: [...ofProcess.values()].reduce((sum, ms) => sum + ms ** 2, 0), own };
}

/**
 * The error of a sum of bricks: a linear combination of the two mean squares, with Satterthwaite's degrees of freedom,
 * which also hold for a negative factor (Gaylor and Hopper, 1969, Technometrics 11). What bricks have in common is at
 * least 0.
 */
export function computeError(
  { common, own }: Factors,
  { processes, ownShare, own: ofOwn }: VarianceComponents,
): ErrorSource {
  const ofProcesses = common * processes.relative ** 2;
  // The mean square of processes contains a part of what is each brick's own.
  const rest = (own - ownShare * common) * ofOwn.relative ** 2;
  const ownAlone = own * ofOwn.relative ** 2;
  const variance = ofProcesses + rest;
  if (variance <= ownAlone) return { deviationMs: Math.sqrt(ownAlone), degreesOfFreedom: ofOwn.degreesOfFreedom };
  const ofVariance = ofProcesses ** 2 / processes.degreesOfFreedom + rest ** 2 / ofOwn.degreesOfFreedom;
  return { deviationMs: Math.sqrt(variance), degreesOfFreedom: Math.max(1, variance ** 2 / ofVariance) };
}

/** A brick whose occasions differ by more standard deviations than this is off by its own deviation, not by the pooled one. */
const OUTLYING = 3;

function outlyingErrors(terms: MeasuredSum['terms'], components: VarianceComponents): readonly ErrorSource[] {
  const limit = OUTLYING * spreadOfBrick(components);
  return terms.flatMap(({ latency: { ms, occasionsMs }, count }): ErrorSource[] => {
    const deviation = occasionsMs.length < 2 ? 0 : standardDeviation(occasionsMs);
    if (deviation <= limit * ms) return [];
    const deviationMs = (count * deviation) / Math.sqrt(occasionsMs.length);
    return [{ deviationMs, degreesOfFreedom: components.own.degreesOfFreedom }];
  });
}

export function predictionErrors(
  predicted: NonNullable<MeasuredSum['predicted']>,
  common: CommonError = { relative: 0, degreesOfFreedom: Infinity },
): readonly ErrorSource[] {
  if (predicted.length === 0) return [];
  const ownMs = predicted.map(({ prediction, count }) => count * prediction.ms * prediction.ownError);
  const ms = sumOf(predicted.map(({ prediction, count }) => count * prediction.ms));
  return [
    { deviationMs: hypotOf(ownMs), degreesOfFreedom: Infinity },
    { deviationMs: ms * common.relative, degreesOfFreedom: common.degreesOfFreedom },
  ];
}

/**
 * For the mean of two measurements of the whole model, in processes of their own at other times. Error sources:
 * docs/measuring.md, "Occasions and intervals".
 */
export function predictionInterval(
  { terms, predicted = [], commonError, kernels, calls }: MeasuredSum,
  spreads: Spreads | undefined,
): Uncertainty {
  const ofBricks = terms.map(({ latency, count }): Part => [count * latency.ms, latency.processes]);
  const ofPredicted = predicted.map(({ prediction, count }) => count * prediction.ms);
  const ofCalls = calls.map((summary) => ({ summary, count: 1 }));
  const ms = sumOf([...ofBricks.map(([time]) => time), ...ofPredicted, ...calls.map((call) => call.ms)]);
  const withinCalls = errorsWithinRuns(ofCalls);
  if (spreads === undefined || withinCalls === undefined) return unknownAround(ms);
  const { bricks, wholes, machines } = spreads;
  const measured = computeFactors(ofBricks);
  const outlying = outlyingErrors(terms, bricks);
  const sharedMs = terms.reduce((sum, { latency, count }) => sum + count * latency.ms * latency.sharedShare, 0);
  // At another time the core may be shared for all of the time, or not at all; all shares between are equally likely.
  const sharedCore = (sharedMs * (1 - 1 / SLOWDOWN_ON_SHARED_CORE)) / Math.sqrt(3);
  // Of the difference between two machines; rather too wide where the bricks are from more of them.
  const ofMachines = machines && { ...machines, deviationMs: Math.SQRT2 * ms * machines.relative };
  const ofProfile = PROFILE_ERROR * sumOf(terms.map(({ latency, count }) => count * (latency.profileMs ?? 0)));
  // Of the call in one process, and of the whole model's call in another.
  const ofCallsMs = Math.SQRT2 * CALL_ERROR * sumOf(calls.map((call) => call.ms));
  const ofMethod = Math.hypot(ms * METHOD_ERROR.relative, kernels * METHOD_ERROR.kernelMs);
  const others: readonly ErrorSource[] = [
    ...withinCalls,
    { deviationMs: Math.hypot(ofMethod, ofProfile, sharedCore, ofCallsMs), degreesOfFreedom: Infinity },
    ...(ofMachines === undefined ? [] : [ofMachines]),
  ];
  const ofPredictions = predictionErrors(predicted, commonError);
  const inOneProcess = computeFactors(
    [...ofBricks.map(([time]) => time), ...ofPredicted].map((time) => [time, ['whole']]),
  );
  // Predictions have a common error of their own, and count like bricks of one more time.
  const ends = terms.map(({ latency, count }) => [count * latency.ms, latency.endsMs] as const);
  const times = shareOfTimes([...ends, [sumOf(ofPredicted), [Infinity]]]);
  const withWhole = (factors: Factors): readonly ErrorSource[] => {
    if (wholes === undefined) {
      const common = factors.common + (1 / OCCASIONS_OF_WHOLE + times) * inOneProcess.common;
      const own = factors.own + inOneProcess.own / OCCASIONS_OF_WHOLE;
      return [computeError({ common, own }, bricks), ...others];
    }
    const { relative, degreesOfFreedom } = wholes;
    const deviationMs = ms * relative * Math.sqrt(1 / OCCASIONS_OF_WHOLE + times);
    return [computeError(factors, bricks), { deviationMs, degreesOfFreedom }, ...others];
  };
  const sources = [...withWhole(measured), ...outlying, ...ofPredictions];
  const relativeTo = (errors: readonly ErrorSource[]): number | undefined =>
    ms > 0 ? computeMargin(errors) / ms : undefined;
  return {
    interval: intervalAround(ms, computeMargin(sources)),
    margins: LEVELS.map((level) => ({ level, ms: computeMargin(sources, level) })),
    measuringError: relativeTo([computeError(measured, bricks), ...outlying, ...withinCalls, ...ofPredictions]),
    leastError: relativeTo(withWhole({ common: 0, own: 0 })),
  };
}

function unknownAround(ms: number): Uncertainty {
  const interval = { ms, lowMs: undefined, highMs: undefined };
  return { interval, margins: [], measuringError: undefined, leastError: undefined };
}

/** The layer cut measures only the spread of runs within one process. */
export function intervalWithinRuns({ terms }: Pick<MeasuredSum, 'terms'>): Uncertainty {
  const interval = sumWithInterval(terms.map(({ latency: { within }, count }) => ({ summary: within, count })));
  return { ...unknownAround(interval.ms), interval };
}
