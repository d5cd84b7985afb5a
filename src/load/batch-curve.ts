import { maxOf } from '../base/long-lists.js';
import { mean } from '../base/mean.js';
import { sumOf } from '../base/sum-of.js';

export interface BatchTime {
  readonly batch: number;
  readonly ms: number;
}

export type BatchLine = NonNullable<ReturnType<typeof lineThrough>>;

const MIN_GAIN = 0.05;

const perSecond = ({ batch, ms }: BatchTime): number => (batch * 1000) / ms;

export function batchCurve(times: readonly BatchTime[]) {
  const sorted = times.toSorted((a, b) => a.batch - b.batch);
  const at = new Map(sorted.map((time) => [time.batch, time]));
  const [first] = sorted;
  if (first === undefined) return undefined;
  const largest = sorted.reduce((most, time) => (perSecond(time) > perSecond(most) ? time : most), first);
  const best = sorted.find((time) => {
    const doubled = at.get(2 * time.batch);
    return doubled !== undefined && perSecond(doubled) <= (1 + MIN_GAIN) * perSecond(time);
  });
  return {
    /** The smallest batch whose doubling raises the throughput by at most 5 %; null where no doubling is known. */
    best: best?.batch ?? null,
    largest: largest.batch,
    largestPerSecond: perSecond(largest),
    line: lineThrough(sorted),
  };
}

/** T(B) = a + b B by least squares; null for fewer than two sizes. */
export function lineThrough(times: readonly BatchTime[]) {
  if (times.length < 2) return null;
  const meanBatch = mean(times.map(({ batch }) => batch));
  const meanMs = mean(times.map(({ ms }) => ms));
  const squares = sumOf(times.map(({ batch }) => (batch - meanBatch) ** 2));
  const bMs = sumOf(times.map(({ batch, ms }) => (batch - meanBatch) * (ms - meanMs))) / squares;
  const aMs = meanMs - bMs * meanBatch;
  const residuals = times.map(({ batch, ms }) => Math.abs(ms - aMs - bMs * batch));
  const degrees = times.length - 2;
  const deviation = Math.sqrt(sumOf(residuals.map((ms) => ms ** 2)) / degrees);
  // Standard errors with n - 2 degrees of freedom.
  const errors = {
    aMs: deviation * Math.sqrt(1 / times.length + meanBatch ** 2 / squares),
    bMs: deviation / Math.sqrt(squares),
    degrees,
  };
  // Every line fits two sizes.
  return { aMs, bMs, largestResidualMs: maxOf(residuals), errors: degrees > 0 ? errors : null };
}

/** The time of a run of any batch: linear between known sizes, and proportional beyond them. */
export function interpolated(times: readonly BatchTime[]): (batch: number) => number {
  const sorted = times.toSorted((a, b) => a.batch - b.batch);
  return (batch) => {
    const after = sorted.findIndex((time) => time.batch >= batch);
    const low = sorted[after - 1];
    const high = sorted[after];
    if (high === undefined) {
      const last = sorted.at(-1);
      return last === undefined ? NaN : (last.ms * batch) / last.batch;
    }
    if (low === undefined || high.batch === batch) return high.ms;
    return low.ms + ((high.ms - low.ms) * (batch - low.batch)) / (high.batch - low.batch);
  };
}
