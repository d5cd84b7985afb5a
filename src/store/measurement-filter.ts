import { isDisturbed } from '../measurement/disturbance.js';
import { type Measurement, type MeasurementKey, measurementKey } from '../measurement/measurement.js';
import type { ResultStore } from './result-store.js';

export interface MeasurementFilter {
  readonly ids?: readonly string[] | undefined;
  readonly system?: string | undefined;
  readonly failed?: boolean | undefined;
  readonly disturbed?: boolean | undefined;
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

export async function* filteredMeasurements(
  store: Pick<ResultStore, 'listMeasurements'>,
  filter: MeasurementFilter,
): AsyncIterable<Measurement> {
  for await (const measurement of store.listMeasurements()) if (isMeant(measurement, filter)) yield measurement;
}

export async function filteredKeys(store: ResultStore, filter: MeasurementFilter): Promise<readonly MeasurementKey[]> {
  const keys: MeasurementKey[] = [];
  for await (const measurement of filteredMeasurements(store, filter)) keys.push(measurementKey(measurement));
  return keys;
}
