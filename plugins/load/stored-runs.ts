import { mean, type ResultStore, type System, trimmedMean } from '../../src/plugin-api.js';

/** Fewer runs do not show how far runs differ. */
const MIN_RUNS = 20;

/**
 * The times of a whole model's runs over their mean, from the store: a queue simulated with them has their variance.
 */
export async function storedRunTimes(
  signature: string,
  { fingerprint }: System,
  store: Pick<ResultStore, 'measurementsOf'>,
): Promise<readonly number[] | undefined> {
  const all = await store.measurementsOf(signature);
  const relative = all.flatMap(({ system, context, outcome }) => {
    if (system.fingerprint !== fingerprint || context !== undefined || outcome.kind !== 'samples') return [];
    const mean = trimmedMean(outcome.runMs);
    return mean > 0 ? outcome.runMs.map((ms) => ms / mean) : [];
  });
  return relative.length < MIN_RUNS ? undefined : relative;
}

/** Standard deviation over mean. */
export function computeVariation(values: readonly number[]): number {
  const center = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - center) ** 2))) / center;
}
