import { sha256Of } from '../base/sha256.js';
import { measurementKey, type Measurement, type MeasurementKey } from '../measurement/measurement.js';

const SIGNATURE = /^[0-9a-f]{64}$/;

/** A hash over system and setup, then the signature: a plan's measurements are adjacent. undefined: no signature. */
export function measurementId({ signature, system, setup }: MeasurementKey): string | undefined {
  if (!SIGNATURE.test(signature)) return undefined;
  const hash = sha256Of(JSON.stringify([system, setup]));
  return `${hash.slice(0, 32)}.${signature}`;
}

export function hasKey(measurement: Measurement, { signature, system, setup }: MeasurementKey): boolean {
  const key = measurementKey(measurement);
  return key.signature === signature && key.system === system && key.setup === setup;
}
