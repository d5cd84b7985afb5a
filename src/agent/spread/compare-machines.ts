import { mean, median } from '../../base/mean.js';
import type { Measurement } from '../../measurement/measurement.js';
import { trimmedMean } from '../../measurement/trimmed-mean.js';
import type { MeasureRequest } from '../benchmark-agent.js';
import { sharedSetupKey } from '../client/requests-together.js';

/** One request in this many is measured on all machines, and at most this many requests. */
const ONE_IN = 10;
const MAX_CHECKED = 16;

/** Machines that differ less than this, relatively, count as identical: near the median, none is an outlier. */
export const MIN_DIFFERENCE = 0.1;

/** Modified z-score of outliers, and the factor from median absolute deviation: Iglewicz and Hoaglin (1993). */
const OUTLIER_SCORE = 3.5;
const DEVIATIONS_PER_MAD = 1.4826;

/** Fewer machines do not show which of them is the outlier. */
const MIN_MACHINES = 3;

/**
 * A tenth of the requests with the same setup, bricks if there are any, by the lowest signatures: random, but fixed.
 */
export function requestsToCompare(requests: readonly MeasureRequest[]): readonly MeasureRequest[] {
  const bricks = requests.filter(({ context }) => context !== undefined);
  const candidates = bricks.length > 0 ? bricks : requests;
  const [first] = candidates;
  if (first === undefined) return [];
  const alike = candidates.filter((request) => sharedSetupKey(request) === sharedSetupKey(first));
  const order = (one: MeasureRequest, other: MeasureRequest): number =>
    one.benchmark.signature < other.benchmark.signature ? -1 : 1;
  return alike.toSorted(order).slice(0, Math.min(MAX_CHECKED, Math.ceil(alike.length / ONE_IN)));
}

export interface Compared<Machine> {
  readonly machine: Machine;
  readonly ms: readonly (number | undefined)[];
}

export function comparedMs({ outcome }: Measurement): number | undefined {
  if (outcome.kind === 'failure') return undefined;
  return Math.max(0, trimmedMean(outcome.runMs) - (outcome.overheadMs ?? 0));
}

function relativeDeviation(values: readonly number[]): number {
  const center = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value / center - 1) ** 2, 0) / (values.length - 1));
}

/** By the total time of the same requests. Outliers are beyond the spread of others, and {@link MIN_DIFFERENCE}. */
export function compareMachines<Machine>(compared: readonly Compared<Machine>[]) {
  const indices = [...(compared[0]?.ms.keys() ?? [])];
  const common = indices.filter((index) => compared.every(({ ms }) => ms[index] !== undefined));
  const sums = compared.map(({ machine, ms }) => {
    return { machine, sumMs: common.reduce((sum, index) => sum + (ms[index] ?? 0), 0) };
  });
  const centerMs = median(sums.map(({ sumMs }) => sumMs));
  if (compared.length < 2 || !(centerMs > 0)) return { requests: common.length, outliers: [], spread: undefined };
  // A machine with 0.5 takes 50 % longer than the median of all.
  const differences = sums.map(({ machine, sumMs }) => ({ machine, sumMs, difference: sumMs / centerMs - 1 }));
  const typical = median(differences.map(({ difference }) => Math.abs(difference)));
  const limit = Math.max(MIN_DIFFERENCE, OUTLIER_SCORE * DEVIATIONS_PER_MAD * typical);
  const isOut = ({ difference }: { readonly difference: number }): boolean =>
    compared.length >= MIN_MACHINES && Math.abs(difference) > limit;
  const alike = differences.filter((one) => !isOut(one)).map(({ sumMs }) => sumMs);
  return {
    requests: common.length,
    outliers: differences.filter(isOut).map(({ machine, difference }) => ({ machine, difference })),
    spread: { machines: alike.length, benchmarks: common.length, relative: relativeDeviation(alike) },
  };
}
