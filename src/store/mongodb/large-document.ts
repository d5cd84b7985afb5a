import { Binary, BSON, type Document } from 'mongodb';
import { sha256Of } from '../../base/sha256.js';
import { decodeDocument, encodeName } from './document-codec.js';

/** The server's limit is 16 MiB; FerretDB keeps documents as text, which takes more room than BSON. */
export const MAX_DOCUMENT_BYTES = 12 * 1024 ** 2;
const PART_BYTES = 8 * 1024 ** 2;

/** Marks every document that lacks fields. No field of this program has such a name. */
export const SPLIT = '%split';

const PARTS = '%parts';

export interface DocumentPart extends Document {
  readonly _id: string;
  readonly document: string;
  readonly bytes: Binary;
}

interface Reference {
  readonly sha256: string;
  readonly count: number;
}

/**
 * A document that the server accepts, and the pieces of the fields that it lacks: its largest fields.
 *
 * @param owner collection and _id @param document encoded for the server @param json the same before encoding
 */
export function splitDocument(owner: string, document: Document, json: object) {
  let excess = BSON.calculateObjectSize(document) - MAX_DOCUMENT_BYTES;
  if (excess <= 0) return { document, parts: [] };
  const small = new Map(Object.entries<unknown>({ ...document, [SPLIT]: true }));
  const parts: DocumentPart[] = [];
  const sized = Object.entries(json).map(([name, value]: [string, unknown]) => {
    const field = encodeName(name);
    return { field, value, bytes: BSON.calculateObjectSize({ [field]: small.get(field) }) };
  });
  for (const { field, value, bytes } of sized.sort((a, b) => b.bytes - a.bytes)) {
    if (excess <= 0) break;
    const text = Buffer.from(JSON.stringify(value));
    const sha256 = sha256Of(text);
    const count = Math.ceil(text.length / PART_BYTES);
    for (let index = 0; index < count; index += 1) {
      const piece = text.subarray(index * PART_BYTES, (index + 1) * PART_BYTES);
      parts.push({ _id: partId(owner, sha256, index), document: owner, bytes: new Binary(piece) });
    }
    small.set(field, { [PARTS]: { sha256, count } satisfies Reference });
    excess -= bytes;
  }
  return { document: Object.fromEntries(small), parts };
}

/** The _id of every part that a stored document needs; none for one that was not split. */
export function listPartIds(owner: string, document: Document): readonly string[] {
  if (document[SPLIT] !== true) return [];
  return Object.values(document).flatMap((value: unknown) => {
    const reference = referenceIn(value);
    if (reference === undefined) return [];
    return Array.from({ length: reference.count }, (_, index) => partId(owner, reference.sha256, index));
  });
}

/** The inverse of {@link splitDocument}, decoded; undefined while a part is missing. */
export function joinDocument(
  owner: string,
  document: Document,
  parts: ReadonlyMap<string, DocumentPart>,
): object | undefined {
  const { [SPLIT]: split, ...fields } = document;
  if (split !== true) return decodeDocument(fields);
  const missing: string[] = [];
  const taken = new Map<string, unknown>();
  for (const [field, value] of Object.entries(fields)) {
    const reference = referenceIn(value);
    if (reference === undefined) continue;
    const pieces: Uint8Array[] = [];
    for (let index = 0; index < reference.count; index += 1) {
      const part = parts.get(partId(owner, reference.sha256, index));
      if (part === undefined) missing.push(field);
      else pieces.push(part.bytes.buffer);
    }
    if (missing.length === 0) taken.set(field, JSON.parse(Buffer.concat(pieces).toString()));
  }
  if (missing.length > 0) return undefined;
  const placeholders = Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [field, taken.has(field) ? null : value]),
  );
  const decoded = Object.entries(decodeDocument(placeholders));
  const names = Object.keys(fields);
  return Object.fromEntries(decoded.map(([name, value], index) => [name, taken.get(names[index] ?? '') ?? value]));
}

function partId(owner: string, sha256: string, index: number): string {
  return `${owner}/${sha256}/${index}`;
}

function referenceIn(value: unknown): Reference | undefined {
  if (typeof value !== 'object' || value === null || !(PARTS in value)) return undefined;
  return value[PARTS] as Reference;
}
