import { isDisturbed } from '../measurement/disturbance.js';
import { type Measurement, type MeasurementKey, measurementKey } from '../measurement/measurement.js';
import type { ResultStore } from './result-store.js';

/** Selects the measurements that meet all given conditions. */
export interface MeasurementFilter {
  /** The signature, or the fingerprint of the system, begins with one of these. */
  readonly ids?: readonly string[] | undefined;
  /** The fingerprint of the system begins with this. */
  readonly system?: string | undefined;
  readonly failed?: boolean | undefined;
  /** Only measurements that others may have disturbed. */
  readonly disturbed?: boolean | undefined;
  /** Taken before this time, in milliseconds since 1970. */
  readonly beforeMs?: number | undefined;
}

function isMeant(measurement: Measurement, { ids, system, failed, disturbed, beforeMs }: MeasurementFilter): boolean {
  const { signature, outcome, measuredAt } = measurement;
  const { fingerprint } = measurement.system;
  if (ids !== undefined && !ids.some((id) => signature.startsWith(id) || fingerprint.startsWith(id))) return false;
  if (system !== undefined && !fingerprint.startsWith(system)) return false;
  if (failed === true && outcome.kind !== 'failure') return false;
  if (disturbed === true && !isDisturbed(measurement)) return false;
  return beforeMs === undefined || Date.parse(measuredAt) < beforeMs;
}

/** The measurements of a store that the filter selects, in the order of their keys. */
export async function* filteredMeasurements(
  store: Pick<ResultStore, 'listMeasurements'>,
  filter: MeasurementFilter,
): AsyncIterable<Measurement> {
  for await (const measurement of store.listMeasurements()) if (isMeant(measurement, filter)) yield measurement;
}

/** The keys of the measurements that the filter selects. */
export async function filteredKeys(store: ResultStore, filter: MeasurementFilter): Promise<readonly MeasurementKey[]> {
  const keys: MeasurementKey[] = [];
  for await (const measurement of filteredMeasurements(store, filter)) keys.push(measurementKey(measurement));
  return keys;
}
