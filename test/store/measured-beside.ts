import type { Conditions } from '../../src/measurement/conditions.js';
import type { Measurement } from '../../src/measurement/measurement.js';
import { sampleMeasurement } from './sample-measurement.js';

/** Conditions of one second on two cores, during which other processes took `othersMs` of processor time. */
export function conditionsBeside(othersMs: number): Conditions {
  return { wallMs: 1000, cores: 2, othersMs, stealMs: 0 };
}

/** A measurement in {@link conditionsBeside}. */
export function measuredBeside(othersMs: number, index = 0): Measurement {
  return sampleMeasurement(index, { conditions: conditionsBeside(othersMs) });
}
