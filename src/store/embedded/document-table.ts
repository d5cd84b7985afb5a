import type { PlatformError } from '../../base/errors.js';
import type { CollectionShape } from '../collection.js';
import { requireShape } from '../collection-shape.js';
import { readTexts, type CheckedDocument } from '../collection-document.js';
import { decodeTexts, encodeTexts, computeEnd } from '../key-bytes.js';
import type { Selection } from '../selection.js';
import { otherKeyError } from '../storage-error.js';
import { readText } from '../stored-text.js';
import { anyDocumentSchema } from '../transfer-record.js';
import type { Tables } from './environment.js';

export interface StoredDocument {
  readonly key: Buffer;
  readonly text: string;
}

export interface DocumentPage {
  readonly documents: readonly StoredDocument[];
  readonly next: Buffer | undefined;
}

/**
 * Documents are in `documents` by [name, key…], and an index's empty entries in `indexes` by [name, its fields, their
 * values…, key…]; `collections` holds the shape. Call methods that write within a {@link Change}.
 */
export class DocumentTable {
  readonly #name: string;
  readonly #shapeText: string;

  constructor(private readonly shape: CollectionShape) {
    this.#name = shape.name;
    this.#shapeText = JSON.stringify(requireShape(shape));
  }

  hasShape({ collections }: Tables): boolean | undefined {
    const stored = collections.get(this.#name);
    return stored === undefined ? undefined : stored === this.#shapeText;
  }

  count({ documents }: Tables): number {
    return documents.getKeysCount(this.#range(encodeTexts([this.#name])));
  }

  adopt(tables: Tables, address: string): PlatformError | undefined {
    const stored = tables.collections.get(this.#name);
    if (stored !== undefined && !hasKey(stored, this.shape.key)) return otherKeyError(address, this.#name);
    const all = this.#range(encodeTexts([this.#name]));
    for (const key of [...tables.indexes.getKeys(all)]) tables.indexes.removeSync(key);
    for (const key of [...tables.documents.getKeys(all)]) {
      for (const entry of this.#listEntries(key, tables.documents.get(key))) tables.indexes.putSync(entry, '');
    }
    tables.collections.putSync(this.#name, this.#shapeText);
    return undefined;
  }

  put(tables: Tables, { text, key, indexes }: CheckedDocument): void {
    const encodedKey = this.documentKey(key);
    const before = this.shape.indexes.length > 0 ? tables.documents.get(encodedKey) : undefined;
    for (const entry of this.#listEntries(encodedKey, before)) tables.indexes.removeSync(entry);
    tables.documents.putSync(encodedKey, text);
    for (const [index, values] of indexes.entries()) {
      if (values !== undefined) tables.indexes.putSync(this.#indexKey(index, values, key), '');
    }
  }

  delete(tables: Tables, key: Buffer): void {
    for (const entry of this.#listEntries(key, tables.documents.get(key))) tables.indexes.removeSync(entry);
    tables.documents.removeSync(key);
  }

  get({ documents }: Tables, key: readonly string[]): string | undefined {
    return documents.get(this.documentKey(key));
  }

  page(tables: Tables, { index, texts }: Selection, start: Buffer | undefined, limit: number): DocumentPage {
    const prefix = index === undefined ? this.documentKey(texts) : this.#indexKey(index, texts, []);
    const table = index === undefined ? tables.documents : tables.indexes;
    const keys = [...table.getKeys({ ...this.#range(prefix), ...(start && { start }), limit })];
    const primaryKeys =
      index === undefined ? keys : keys.map((key) => this.documentKey(decodeTexts(key).slice(2 + texts.length)));
    const documents = primaryKeys.flatMap((key): StoredDocument | readonly [] => {
      const text = tables.documents.get(key);
      return text === undefined ? [] : { key, text };
    });
    const last = keys.length < limit ? undefined : keys.at(-1);
    return { documents, next: last && Buffer.concat([last, SMALLEST]) };
  }

  documentKey(key: readonly string[]): Buffer {
    return encodeTexts([this.#name, ...key]);
  }

  #indexKey(index: number, values: readonly string[], key: readonly string[]): Buffer {
    return encodeTexts([this.#name, String(this.shape.indexes[index]), ...values, ...key]);
  }

  #listEntries(key: Buffer, text: string | undefined): readonly Buffer[] {
    const read = text === undefined ? undefined : readText(text, anyDocumentSchema);
    // A damaged document has no index entries that matter: `find` leaves out documents that do not match.
    if (read?.ok !== true) return [];
    const keyTexts = decodeTexts(key).slice(1);
    return this.shape.indexes.flatMap((fields, index) => {
      const values = readTexts(fields, read.value);
      return values === undefined ? [] : this.#indexKey(index, values, keyTexts);
    });
  }

  #range(prefix: Buffer): { readonly start: Buffer; readonly end: Buffer } {
    return { start: prefix, end: computeEnd(prefix) };
  }
}

/** Appended to a key, it gives the next possible key. */
const SMALLEST = Buffer.from([0]);

function hasKey(shapeText: string, key: readonly string[]): boolean {
  const read = readText(shapeText, anyDocumentSchema);
  return read.ok && JSON.stringify(read.value['key']) === JSON.stringify(key);
}
