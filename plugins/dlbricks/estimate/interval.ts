import type { BrickLatency } from './brick-latency.js';
import {
  type ErrorSource,
  errorsWithinRuns,
  type Interval,
  intervalAround,
  marginOf,
  type Spread,
  type Summary,
  sumWithInterval,
} from './statistics.js';

/**
 * The method's own error, as a standard deviation relative to the latency: a model is not exactly the sum of its
 * bricks, however well they are measured. Estimated over all models of docs/accuracy.md together, not fitted to any.
 */
export const METHOD_ERROR = 0.02;

/**
 * How much longer kernels take while another machine computes on the second hyperthread of the same core
 * (docs/measuring.md, "A core that another machine shares").
 */
const SLOWDOWN_ON_SHARED_CORE = 1.3;

/**
 * The error of bricks that ran on a shared core, as a standard deviation. At another time the core may be shared all of
 * the time, or not at all; all shares between are equally likely.
 *
 * @param sharedMs time that bricks took on a shared core
 */
function sharedCoreError(sharedMs: number): number {
  return (sharedMs * (1 - 1 / SLOWDOWN_ON_SHARED_CORE)) / Math.sqrt(3);
}

/**
 * The error of bricks from one of several machines for a whole model on another of them: the standard deviation of the
 * difference between two machines. Bricks from more machines are closer to the mean of the machines, so the interval is
 * then rather too wide.
 */
function machineError(ms: number, machines: Spread): ErrorSource {
  return { deviationMs: Math.SQRT2 * ms * machines.relative, degreesOfFreedom: machines.degreesOfFreedom };
}

/** The uncertainty of a latency. */
export interface Uncertainty {
  readonly interval: Interval;
  /** The part of the interval that further occasions reduce, relative; undefined where not known. */
  readonly measuringError: number | undefined;
}

/** Bricks, each with its count, and the calls of a run. */
export interface MeasuredSum {
  readonly terms: readonly { readonly latency: BrickLatency; readonly count: number }[];
  readonly calls: readonly Summary[];
}

/**
 * The prediction interval for a measurement of the whole model in a process of its own at another time. Its error
 * sources:
 *
 * - the spread between occasions, for the mean of the bricks. Their errors add up, because the machine's drift is the
 *   same for all bricks;
 * - the spread between occasions again, for that measurement of the whole model;
 * - the spread of runs within processes;
 * - a shared core, as far as bricks were measured on one;
 * - the method's own error;
 * - the difference between machines, where the measurements are from several.
 *
 * @param machines standard deviation between the machines
 */
export function predictionInterval(
  { terms, calls }: MeasuredSum,
  spread: Spread | undefined,
  machines?: Spread,
): Uncertainty {
  const parts = [
    ...terms.map(({ latency: { within }, count }) => ({ summary: within, count })),
    ...calls.map((summary) => ({ summary, count: 1 })),
  ];
  const ms = parts.reduce((sum, { summary, count }) => sum + summary.ms * count, 0);
  const withinRuns = errorsWithinRuns(parts);
  if (spread === undefined || withinRuns === undefined) {
    return { interval: { ms, lowMs: undefined, highMs: undefined }, measuringError: undefined };
  }
  const ofBricks = terms.reduce((sum, { latency, count }) => {
    return sum + (count * latency.ms * spread.relative) / Math.sqrt(latency.occasionsMs.length);
  }, 0);
  const sharedMs = terms.reduce((sum, { latency, count }) => sum + count * latency.ms * latency.sharedShare, 0);
  const { degreesOfFreedom } = spread;
  const measuring = [...withinRuns, { deviationMs: ofBricks, degreesOfFreedom }];
  const margin = marginOf([
    ...withinRuns,
    { deviationMs: Math.hypot(ofBricks, ms * spread.relative), degreesOfFreedom },
    { deviationMs: Math.hypot(ms * METHOD_ERROR, sharedCoreError(sharedMs)), degreesOfFreedom: Infinity },
    ...(machines === undefined ? [] : [machineError(ms, machines)]),
  ]);
  return { interval: intervalAround(ms, margin), measuringError: ms > 0 ? marginOf(measuring) / ms : undefined };
}

/** The layer cut measures only the spread of runs within one process. */
export function intervalWithinRuns({ terms }: MeasuredSum): Uncertainty {
  const interval = sumWithInterval(terms.map(({ latency: { within }, count }) => ({ summary: within, count })));
  return { interval, measuringError: undefined };
}
