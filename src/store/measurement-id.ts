import { createHash } from 'node:crypto';
import { measurementKey, type Measurement, type MeasurementKey } from '../measurement/measurement.js';

const SIGNATURE = /^[0-9a-f]{64}$/;

/**
 * The id of a measurement in a backend: 32 digits of a hash over system and setup, then the signature. So the
 * measurements of a plan are adjacent, and ids are short. undefined for a signature that no measurement can have.
 */
export function measurementId({ signature, system, setup }: MeasurementKey): string | undefined {
  if (!SIGNATURE.test(signature)) return undefined;
  const hash = createHash('sha256')
    .update(JSON.stringify([system, setup]))
    .digest('hex');
  return `${hash.slice(0, 32)}.${signature}`;
}

export function hasKey(measurement: Measurement, { signature, system, setup }: MeasurementKey): boolean {
  const key = measurementKey(measurement);
  return key.signature === signature && key.system === system && key.setup === setup;
}
