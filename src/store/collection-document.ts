import { isDeepStrictEqual } from 'node:util';
import { PlatformError } from '../base/errors.js';
import { schemaProblems } from '../base/schema-problems.js';
import { ownValue } from '../base/own-value.js';
import { MAX_KEY_BYTES, type CollectionDefinition, type CollectionShape } from './collection.js';
import { encodeTexts } from './key-bytes.js';

export interface CheckedDocument {
  readonly text: string;
  readonly key: readonly string[];
  /** Values of each index's fields; undefined where the document lacks one. */
  readonly indexes: readonly (readonly string[] | undefined)[];
}

export function checkedDocument<Document extends object>(
  definition: CollectionDefinition<Document>,
  document: Document,
): CheckedDocument {
  const result = definition.schema.safeParse(document);
  if (!result.success) throw refused(definition, document, schemaProblems(result.error).join('; '), result.error);
  const keys = readKeys(definition, result.data);
  if (typeof keys === 'string') throw refused(definition, document, keys);
  return { text: JSON.stringify(result.data), ...keys };
}

/** The key and indexes of a document, or the reason why no store can keep the document. */
export function readKeys(shape: CollectionShape, document: object): Omit<CheckedDocument, 'text'> | string {
  if ('_id' in document && (shape.key.length > 1 || !shape.key.includes('_id'))) {
    return 'only a field that is its whole key may be called _id';
  }
  const key = readTexts(shape.key, document);
  if (key === undefined) return 'a field of its key is missing';
  const indexes = shape.indexes.map((fields) => readTexts(fields, document));
  const problem = [key, ...indexes].map((texts) => texts && problemWithKey(texts)).find((one) => one !== undefined);
  return problem ?? { key, indexes };
}

/** Whether a stored text is that of a document. Older versions may have written the fields in another order. */
export function isTextOf(stored: string, { text }: CheckedDocument): boolean {
  if (stored === text) return true;
  try {
    return isDeepStrictEqual(JSON.parse(stored), JSON.parse(text));
  } catch {
    return false;
  }
}

export function readTexts(fields: readonly string[], document: object): readonly string[] | undefined {
  const texts: string[] = [];
  for (const field of fields) {
    const value = ownValue(document as Readonly<Record<string, unknown>>, field);
    if (typeof value !== 'string') return undefined;
    texts.push(value);
  }
  return texts;
}

export function problemWithKey(texts: readonly string[]): string | undefined {
  if (texts.some((text) => /\p{Surrogate}/u.test(text))) return 'a field of its key or an index is no valid Unicode';
  const bytes = encodeTexts(texts).length - texts.length;
  if (bytes <= MAX_KEY_BYTES) return undefined;
  return `its key or index has ${bytes} bytes, more than the limit of ${MAX_KEY_BYTES}`;
}

function refused({ name, key }: CollectionShape, document: object, problem: string, cause?: unknown): PlatformError {
  const values = key.map((field) => {
    const value = ownValue(document as Readonly<Record<string, unknown>>, field);
    return typeof value === 'string' ? value.slice(0, 64) : typeof value;
  });
  return new PlatformError(
    'storage',
    `A document of ${name} (${values.join(', ')}) was not stored, because it is not valid: ${problem}. ` +
      'Check that all parts are of the same version as this program.',
    { cause },
  );
}
