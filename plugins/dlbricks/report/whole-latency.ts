import { latencyOfOutcome } from '../../../src/plugin-api.js';
import type { EndToEnd } from './evaluation-result.js';

/** The mean over both occasions, as for a brick; that of the first alone before the second. In ms; null without any. */
export function wholeLatency(endToEnd: EndToEnd | undefined): number | null {
  const first = latencyOfOutcome(endToEnd?.first?.outcome);
  const repeat = latencyOfOutcome(endToEnd?.repeat?.outcome);
  return first === null || repeat === null ? first : (first + repeat) / 2;
}
