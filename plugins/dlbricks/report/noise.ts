import { isCoreShared, isUnderLoad, type Measurement } from '../../../src/plugin-api.js';

/** Causes of noise, and their remedies. */
export interface NoiseWarning {
  readonly cause: 'steal' | 'shared_core' | 'other_load' | 'quota' | 'frequency' | 'threads' | 'spread';
  /** Cause, figure and remedy in one sentence. */
  readonly message: string;
}

/** Without the option, the stored measurements are used again. */
const AGAIN = 'and measure again with --remeasure all';

const DISTURBED_AGAIN = 'run the same command again, which takes these measurements again (--remeasure disturbed)';

/** Shares from which a cause gets a warning. */
const LIMITS = { steal: 0.01, otherLoad: 0.05, throttled: 0.005, frequency: 0.05, spread: 0.05 } as const;

type Conditions = NonNullable<Measurement['conditions']>;

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/** Sum of a kind of time over all measurements that have it, relative to the processor time available. */
function shareOf(
  all: readonly Conditions[],
  kind: 'stealMs' | 'othersMs' | 'throttledMs',
  ofCores: (conditions: Conditions) => number,
): number {
  const known = all.filter((conditions) => conditions[kind] !== undefined);
  const total = known.reduce((sum, conditions) => sum + conditions.wallMs * ofCores(conditions), 0);
  return total === 0 ? 0 : known.reduce((sum, conditions) => sum + (conditions[kind] ?? 0), 0) / total;
}

function frequencyRange(all: readonly Conditions[]): { readonly lowest: number; readonly highest: number } | undefined {
  const seen = all.flatMap(({ lowestMhz, highestMhz }) => [lowestMhz, highestMhz].filter((mhz) => mhz !== undefined));
  return seen.length === 0 ? undefined : { lowest: Math.min(...seen), highest: Math.max(...seen) };
}

/** The machine's state by the conditions that measurements record. */
export interface NoiseFacts {
  readonly measurements: readonly Measurement[];
  /** Standard deviation between occasions, relative; undefined where it is not known. */
  readonly spread: number | undefined;
  readonly threads: number;
  readonly cores: number;
}

/** Warnings with a cause and a remedy; none on a quiet machine. */
export function noiseWarnings({ measurements: taken, spread, threads, cores }: NoiseFacts): readonly NoiseWarning[] {
  // What failed has no latency that anything could have disturbed.
  const measurements = taken.filter(({ outcome }) => outcome.kind === 'samples');
  const all = measurements.flatMap(({ conditions }) => conditions ?? []);
  const allCores = (conditions: Conditions): number => conditions.cores;
  const steal = shareOf(all, 'stealMs', allCores);
  const otherLoad = shareOf(all, 'othersMs', allCores);
  const throttled = shareOf(all, 'throttledMs', () => 1);
  const frequency = frequencyRange(all);
  const warnings: NoiseWarning[] = [];
  const warn = (cause: NoiseWarning['cause'], message: string): void => void warnings.push({ cause, message });
  if (threads > cores) {
    warn('threads', `${threads} threads share ${cores} cores; ask for fewer with --threads`);
  }
  if (steal > LIMITS.steal) {
    warn(
      'steal',
      `the hypervisor gave ${percent(steal)} of the processors' time to other machines; use a machine with cores of its own, or measure again at another time with --remeasure all`,
    );
  }
  const shared = measurements.filter(isCoreShared).length;
  if (shared > 0) {
    warn(
      'shared_core',
      `another machine ran on the same core during ${shared} of ${measurements.length} measurements; use a machine with cores of its own, or ${DISTURBED_AGAIN}`,
    );
  }
  const disturbed = measurements.filter(isUnderLoad).length;
  if (disturbed > 0) {
    warn(
      'other_load',
      `${disturbed} of ${measurements.length} measurements were disturbed by other processes, which took ${percent(otherLoad)} of the processors' time; stop them and ${DISTURBED_AGAIN}`,
    );
  } else if (otherLoad > LIMITS.otherLoad) {
    warn('other_load', `other processes took ${percent(otherLoad)} of the processors' time; stop them ${AGAIN}`);
  }
  if (throttled > LIMITS.throttled) {
    warn(
      'quota',
      `a processor quota held the runs back for ${percent(throttled)} of the time; raise the container's limit ${AGAIN}, or ask for fewer threads`,
    );
  }
  if (frequency !== undefined && frequency.highest > frequency.lowest * (1 + LIMITS.frequency)) {
    const range = `${frequency.lowest.toFixed(0)} to ${frequency.highest.toFixed(0)} MHz`;
    warn(
      'frequency',
      `the processor ran at ${range}; set a fixed frequency (cpupower frequency-set -g performance) ${AGAIN}`,
    );
  }
  if (spread !== undefined && spread > LIMITS.spread) {
    const cause = warnings.length === 0 ? 'for an unknown reason' : 'see the other warnings';
    warn(
      'spread',
      `one brick varies by ${percent(spread)} from process to process, ${cause}; measure again with --remeasure all on a quieter machine`,
    );
  }
  return warnings;
}
