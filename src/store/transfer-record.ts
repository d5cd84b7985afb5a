import { z } from 'zod';
import { storedMeasurementSchema } from '../measurement/measurement.js';
import { collectionShapeSchema } from './collection-shape.js';
import type { CollectionDefinition, CollectionShape } from './collection.js';

/** Any document, to transfer it without knowing its kind. Its reader checks it against the reader's own schema. */
export const anyDocumentSchema = z.custom<Record<string, unknown>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'expected an object',
);

export const transferRecordSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('measurement'), measurement: storedMeasurementSchema }),
  z.strictObject({ kind: z.literal('document'), collection: collectionShapeSchema, document: anyDocumentSchema }),
]);

export type TransferRecord = z.infer<typeof transferRecordSchema>;

export function defineAnyDocument(shape: CollectionShape): CollectionDefinition<Record<string, unknown>> {
  return { ...shape, schema: anyDocumentSchema };
}
