import { type Measurement, subjectKey } from '../../../src/plugin-api.js';

/** Measurements by {@link subjectKey}, one per occasion, all of one machine. */
export type Observations = ReadonlyMap<string, readonly Measurement[]>;

/** Measurements in any order, by benchmark and in the order of their occasions. */
export function observationsOf(measurements: Iterable<Measurement>): Observations {
  const observations = new Map<string, Measurement[]>();
  for (const measurement of measurements) {
    const key = subjectKey(measurement.signature, measurement.context);
    const others = observations.get(key) ?? [];
    observations.set(key, others);
    others.push(measurement);
  }
  for (const several of observations.values()) several.sort((a, b) => a.occasion - b.occasion);
  return observations;
}
