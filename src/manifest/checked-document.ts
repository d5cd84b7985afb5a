import type { z } from 'zod';
import { type ManifestDocument, parseDocument } from './document.js';
import { orThrow } from './problem.js';
import { validate } from './validate.js';

/** @throws PlatformError `manifest` with the place of the problem in the file */
export function checkedYamlFile<Schema extends z.ZodType>(
  path: string,
  bytes: Uint8Array,
  schema: Schema,
  maxEvents?: number,
): { readonly document: ManifestDocument; readonly data: z.output<Schema> } {
  const document = orThrow(parseDocument(path, bytes, maxEvents));
  return { document, data: orThrow(validate(document, schema)).data };
}
