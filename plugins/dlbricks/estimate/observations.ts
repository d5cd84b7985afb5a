import { groupedBy, type Measurement, subjectKey } from '../../../src/plugin-api.js';

/** Measurements by {@link subjectKey}, one per occasion, all of one machine. */
export type Observations = ReadonlyMap<string, readonly Measurement[]>;

export function groupObservations(measurements: Iterable<Measurement>): Observations {
  const inOrder = [...measurements].sort((a, b) => a.occasion - b.occasion);
  return groupedBy(inOrder, ({ signature, context }) => subjectKey(signature, context));
}
