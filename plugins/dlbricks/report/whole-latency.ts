import { type Measurement, trimmedMean } from '../../../src/plugin-api.js';
import type { EndToEnd } from './evaluation-result.js';

/** In ms; null where there is no measurement, or it failed. */
export function latencyOfOccasion(measurement: Measurement | undefined): number | null {
  return measurement?.outcome.kind === 'samples' ? trimmedMean(measurement.outcome.runMs) : null;
}

/** The mean over both occasions, as for a brick; that of the first alone before the second. */
export function wholeLatency(endToEnd: EndToEnd | undefined): number | null {
  const first = latencyOfOccasion(endToEnd?.first);
  const repeat = latencyOfOccasion(endToEnd?.repeat);
  return first === null || repeat === null ? first : (first + repeat) / 2;
}
