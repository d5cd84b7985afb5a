import { uniform, xoshiro128pp } from '../../src/base/random.js';
import { NO_BATCHING } from '../../src/load/batcher.js';
import type { Bound } from '../../src/load/bound.js';
import { exponential, poissonArrivals } from '../../src/load/schedule.js';
import { type ServiceTimes, type SimulatedTrial, simulateTrial } from '../../src/load/simulate.js';
import { summarizeTrial, type TrialSummary } from '../../src/load/summary.js';

export { uniform, xoshiro128pp };

/** Constant service of 1 ms. */
export const CONSTANT: ServiceTimes = { runMs: () => 1 };

export function exponentialService(seed: number): ServiceTimes {
  const next = xoshiro128pp(seed);
  return { runMs: () => exponential(next) };
}

/** A Poisson stream with utilization `rho` on a server with a mean service time of 1 ms. */
export function poissonTrial(
  rho: number,
  queries: number,
  seed: number,
  service: ServiceTimes = CONSTANT,
  bound?: Bound,
): SimulatedTrial {
  const arrivals = poissonArrivals({ perSecond: rho * 1000, queries, seed });
  return simulateTrial({ plan: { kind: 'open', arrivals }, bound, dispatch: 'turns', seed, limit: 1 }, NO_BATCHING, [
    service,
  ]);
}

export function summarized(trial: SimulatedTrial, bound?: Bound): TrialSummary {
  return summarizeTrial(trial.records, trial, { bound, servers: 1, isOpen: true });
}

export interface Spread {
  readonly mean: number;
  /** Standard error of the mean over independent values. */
  readonly error: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return { mean, error: Math.sqrt(variance / values.length) };
}
