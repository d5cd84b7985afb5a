import { z } from 'zod';
import { oncePer } from '../base/once-per.js';
import { sha256Of } from '../base/sha256.js';
import { measurementSchema, type Measurement, upgradedMeasurement } from '../measurement/measurement.js';
import { systemSchema, type System } from '../measurement/system.js';
import { readText, type Read } from './stored-text.js';

/** The stored form: thousands of measurements share a system, so that is a document of its own ({@link systemId}). */
export const measurementDocumentSchema = z.strictObject({
  ...measurementSchema.shape,
  system: z.string().regex(/^[0-9a-f]{64}\.[0-9a-f]{16}$/),
});

/** The same, as written by this version or an older one. */
export const storedDocumentSchema = z.preprocess(upgradedMeasurement, measurementDocumentSchema);

export type MeasurementDocument = z.infer<typeof measurementDocumentSchema>;

/**
 * The fingerprint, then a hash of every field: descriptions of one system may differ in fields that no latency depends
 * on (memory varies between boots), and each measurement keeps its own.
 */
export const systemId = oncePer((system: System): string => {
  const hash = sha256Of(JSON.stringify(system));
  return `${system.fingerprint}.${hash.slice(0, 16)}`;
});

/** Not checked: measurements come from an agent, a file or a queue, whose readers check them. */
export function toDocuments(measurement: Measurement): {
  readonly document: MeasurementDocument;
  readonly system: System;
} {
  const { system, ...rest } = measurement;
  return { document: { ...rest, system: systemId(system) }, system };
}

export function readMeasurement(text: string, systemOf: (id: string) => Read<System>): Read<Measurement> {
  const read = readText(text, storedDocumentSchema);
  if (!read.ok) return read;
  const system = systemOf(read.value.system);
  return system.ok ? { ok: true, value: { ...read.value, system: system.value } } : system;
}

export function readSystem(text: string | undefined): Read<System> {
  return text === undefined ? { ok: false, problem: 'its system is missing' } : readText(text, systemSchema);
}
