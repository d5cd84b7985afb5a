import { counted } from '../base/counted.js';
import { inPercent } from '../base/in-percent.js';
import { maxOf, minOf } from '../base/long-lists.js';
import type { Conditions } from './conditions.js';
import { isCoreShared, isUnderLoad, MIN_OTHERS_MS } from './disturbance.js';
import type { Measurement } from './measurement.js';

export interface NoiseWarning {
  readonly cause: 'steal' | 'shared_core' | 'other_load' | 'quota' | 'frequency' | 'threads' | 'spread' | 'page_faults';
  readonly message: string;
}

/** A cause gets a warning above this share. */
const LIMITS = { steal: 0.01, otherLoad: 0.05, throttled: 0.005, frequency: 0.05 } as const;

/** Sum of a kind of time over all conditions that have it, relative to the processor time available. */
function computeShare(
  all: readonly Conditions[],
  kind: 'stealMs' | 'othersMs' | 'throttledMs',
  ofCores: (conditions: Conditions) => number,
  leastMs = 0,
): number {
  const known = all.filter((conditions) => conditions[kind] !== undefined);
  const total = known.reduce((sum, conditions) => sum + conditions.wallMs * ofCores(conditions), 0);
  const taken = known.reduce((sum, conditions) => sum + (conditions[kind] ?? 0), 0);
  return total === 0 || taken < leastMs ? 0 : taken / total;
}

function frequencyRange(all: readonly Conditions[]): { readonly lowest: number; readonly highest: number } | undefined {
  const seen = all.flatMap(({ lowestMhz, highestMhz }) => [lowestMhz, highestMhz].filter((mhz) => mhz !== undefined));
  return seen.length === 0 ? undefined : { lowest: minOf(seen), highest: maxOf(seen) };
}

export interface MachineFacts {
  readonly conditions: readonly Conditions[];
  readonly threads: number;
  readonly cores: number;
  /** How to measure again, as the end of a sentence: "and measure again with …". */
  readonly again: string;
  /** The sentence about another machine on the same core; undefined where there was none. */
  readonly shared: string | undefined;
  /** For single measurements that are disturbed. @param share of the processors' time that other processes took */
  readonly disturbed?: ((share: string) => string) | undefined;
}

export function machineWarnings(facts: MachineFacts): readonly NoiseWarning[] {
  const { conditions: all, threads, cores, again, shared, disturbed } = facts;
  const allCores = (conditions: Conditions): number => conditions.cores;
  const steal = computeShare(all, 'stealMs', allCores, MIN_OTHERS_MS);
  const otherLoad = computeShare(all, 'othersMs', allCores, MIN_OTHERS_MS);
  const throttled = computeShare(all, 'throttledMs', () => 1);
  const frequency = frequencyRange(all);
  const warnings: NoiseWarning[] = [];
  const warn = (cause: NoiseWarning['cause'], message: string): void => void warnings.push({ cause, message });
  if (threads > cores) {
    warn('threads', `${threads} threads share ${counted(cores, 'core')}; ask for fewer with --threads`);
  }
  if (steal > LIMITS.steal) {
    warn(
      'steal',
      `the hypervisor gave ${inPercent(steal)} of the processors' time to other machines; use a machine with cores of its own, or wait ${again}`,
    );
  }
  if (shared !== undefined) warn('shared_core', shared);
  if (disturbed !== undefined) warn('other_load', disturbed(inPercent(otherLoad)));
  else if (otherLoad > LIMITS.otherLoad) {
    warn('other_load', `other processes took ${inPercent(otherLoad)} of the processors' time; stop them ${again}`);
  }
  if (throttled > LIMITS.throttled) {
    warn(
      'quota',
      `a processor quota held the runs back for ${inPercent(throttled)} of the time; raise the container's limit ${again}, or ask for fewer threads`,
    );
  }
  if (frequency !== undefined && frequency.highest > frequency.lowest * (1 + LIMITS.frequency)) {
    const range = `${frequency.lowest.toFixed(0)} to ${frequency.highest.toFixed(0)} MHz`;
    warn(
      'frequency',
      `the processor ran at ${range}; set a fixed frequency (cpupower frequency-set -g performance) ${again}`,
    );
  }
  const faults = all.reduce((sum, { majorFaults = 0 }) => sum + majorFaults, 0);
  if (faults > 0) {
    warn(
      'page_faults',
      `${counted(faults, 'page')} had to be read from the disk during the runs; free memory ${again}`,
    );
  }
  return warnings;
}

/** How to measure again. Reports keep the words, so that they may be read without the command. */
const AGAIN = {
  withRemeasure: {
    all: 'and measure again with --remeasure all (remeasure: all in manifests)',
    shared: 'or measure them again with --remeasure disturbed (remeasure: disturbed in manifests)',
    disturbed: 'measure them again with --remeasure disturbed (remeasure: disturbed in manifests)',
  },
  without: { all: 'and measure again', shared: 'and measure them again there', disturbed: 'measure them again' },
} as const;

/** @param canRemeasure whether the command that warns has the option --remeasure */
export function measurementWarnings(
  taken: readonly Measurement[],
  {
    threads,
    cores,
    canRemeasure = true,
  }: Pick<MachineFacts, 'threads' | 'cores'> & { readonly canRemeasure?: boolean },
): readonly NoiseWarning[] {
  const again = AGAIN[canRemeasure ? 'withRemeasure' : 'without'];
  // Models may share a measurement. A failed one has no latency that could be disturbed.
  const measurements = [...new Set(taken)].filter(({ outcome }) => outcome.kind === 'samples');
  const all = counted(measurements.length, 'measurement');
  const shared = measurements.filter(isCoreShared).length;
  const loaded = measurements.filter(isUnderLoad).length;
  return machineWarnings({
    conditions: measurements.flatMap(({ conditions }) => conditions ?? []),
    threads,
    cores,
    again: again.all,
    shared:
      shared > 0
        ? `another machine ran on the same core during ${shared} of ${all}; use a machine with cores of its own, ${again.shared}`
        : undefined,
    disturbed:
      loaded > 0
        ? (share) =>
            `${loaded} of ${all} ${loaded === 1 ? 'was' : 'were'} disturbed by other processes, which took ${share} of the processors' time; stop them and ${again.disturbed}`
        : undefined,
  });
}
