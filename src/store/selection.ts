import { PlatformError } from '../base/errors.js';
import type { CollectionShape } from './collection.js';
import { problemWithKey, readTexts } from './collection-document.js';

/** The documents that a match selects: by leading fields of the key (none of them selects all), or by an index. */
export interface Selection {
  /** Position among the definition's indexes; undefined is the key. */
  readonly index: number | undefined;
  readonly texts: readonly string[];
  readonly impossible: boolean;
}

/** @throws PlatformError `internal` for fields that documents of this kind are not found by */
export function selectBy({ name, key, indexes }: CollectionShape, match: object): Selection {
  const fields = Object.keys(match);
  const leading = key.slice(0, fields.length);
  const index = isSameSet(fields, leading) ? undefined : indexes.findIndex((other) => isSameSet(fields, other));
  const texts = readTexts(index === undefined ? leading : (indexes[index] ?? []), match);
  if (index === -1 || texts === undefined) {
    throw new PlatformError(
      'internal',
      `documents of ${name} are not found by ${fields.join(', ')}, but by texts for ${[key, ...indexes].map((list) => list.join(', ')).join(' or ')}`,
    );
  }
  return { index, texts, impossible: problemWithKey(texts) !== undefined };
}

/** The values of the whole key. @throws PlatformError `internal` if one is missing */
export function selectOne(shape: CollectionShape, match: object): Selection {
  const selection = selectBy(shape, match);
  if (selection.index === undefined && selection.texts.length === shape.key.length) return selection;
  throw new PlatformError('internal', `a document of ${shape.name} is read by its whole key: ${shape.key.join(', ')}`);
}

function isSameSet(fields: readonly string[], others: readonly string[]): boolean {
  return fields.length === others.length && others.every((field) => fields.includes(field));
}

export function matches({ key, indexes }: CollectionShape, { index, texts }: Selection, document: object): boolean {
  const values = readTexts(index === undefined ? key : (indexes[index] ?? []), document);
  return values !== undefined && texts.every((text, position) => values[position] === text);
}
