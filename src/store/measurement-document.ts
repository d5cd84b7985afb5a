import { createHash } from 'node:crypto';
import { z } from 'zod';
import { PlatformError } from '../base/errors.js';
import { schemaProblems } from '../base/schema-problems.js';
import { measurementSchema, type Measurement, upgradedMeasurement } from '../measurement/measurement.js';
import { systemSchema, type System } from '../measurement/system.js';
import { readText, type Read } from './stored-text.js';

/**
 * The stored form of a measurement. Thousands of measurements share a system, so the system is a separate document, and
 * the measurement holds its {@link systemId}.
 */
export const measurementDocumentSchema = z.strictObject({
  ...measurementSchema.shape,
  system: z.string().regex(/^[0-9a-f]{64}\.[0-9a-f]{16}$/),
});

/** The same, as written by this version or an older one. */
export const storedDocumentSchema = z.preprocess(upgradedMeasurement, measurementDocumentSchema);

export type MeasurementDocument = z.infer<typeof measurementDocumentSchema>;

/**
 * The fingerprint, then a hash of every field. Two descriptions of one system share a fingerprint and may still differ
 * in fields that no latency depends on (the amount of memory varies between boots). Each measurement keeps its own
 * description.
 */
export function systemId(system: System): string {
  const hash = createHash('sha256').update(JSON.stringify(system)).digest('hex');
  return `${system.fingerprint}.${hash.slice(0, 16)}`;
}

export function toDocuments(measurement: Measurement): {
  readonly document: MeasurementDocument;
  readonly system: System;
} {
  const { system, ...rest } = checkedMeasurement(measurement);
  return { document: { ...rest, system: systemId(system) }, system };
}

export function checkedMeasurement(measurement: Measurement): Measurement {
  const result = measurementSchema.safeParse(measurement);
  if (result.success) return result.data;
  const signature = String(measurement.signature).slice(0, 64);
  throw new PlatformError(
    'storage',
    `The measurement of ${signature} was not stored, because it is not valid: ${schemaProblems(result.error).join('; ')}. ` +
      'Check that the agent is of the same version as this program.',
    { cause: result.error },
  );
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
