import { z } from 'zod';
import { PlatformError } from '../base/errors.js';
import { schemaProblems } from '../base/schema-problems.js';
import type { CollectionShape } from './collection.js';

const RESERVED = ['measurements', 'systems', 'collections', 'format'];

const fields = z.array(z.string().min(1).max(64)).min(1).max(8);

export const collectionShapeSchema: z.ZodType<CollectionShape> = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,62}$/)
    .refine((name) => !RESERVED.includes(name), 'is a name that a store needs for itself'),
  key: fields,
  indexes: z.array(fields).max(8),
  types: z.record(z.string().max(64), z.enum(['date', 'object_id'])).exactOptional(),
});

/** @returns the shape alone. @throws PlatformError `internal` for a definition that no store can keep */
export function requireShape({ name, key, indexes, types }: CollectionShape): CollectionShape {
  const result = collectionShapeSchema.safeParse({ name, key, indexes, ...(types && { types }) });
  if (result.success) return result.data;
  throw new PlatformError('internal', `no collection can be ${name}: ${schemaProblems(result.error).join('; ')}`);
}
