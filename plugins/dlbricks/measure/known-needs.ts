import {
  knownResults,
  type KnownResults,
  type ResultStore,
  type System,
  type Wanted,
} from '../../../src/plugin-api.js';
import { type Need, runOptionsOfNeed } from '../bricks/needs.js';
import type { MeasureSettings } from './tasks.js';

export function wantedOfNeed(
  need: Need,
  occasion: number,
  { runOptions, limits }: Pick<MeasureSettings, 'runOptions' | 'limits'>,
): Wanted {
  const { signature, protocol, context } = need;
  const wanted = { signature, protocol, occasion, limits, runOptions: runOptionsOfNeed(need, runOptions) };
  return context === undefined ? wanted : { ...wanted, context };
}

/** What the store has on some occasions. */
export function findKnown(
  needs: readonly Need[],
  occasions: readonly number[],
  system: System,
  settings: MeasureSettings,
  store: ResultStore,
): Promise<KnownResults> {
  const wanted = occasions.flatMap((occasion) => needs.map((need) => wantedOfNeed(need, occasion, settings)));
  return knownResults(wanted, system, store);
}
