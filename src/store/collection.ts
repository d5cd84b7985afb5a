import type { z } from 'zod';

/**
 * A kind of document that a store keeps besides measurements: one definition, which every backend serves (a MongoDB
 * collection, an LMDB database, a map). Fields that documents are found by hold strings, at the top of the document.
 */
export interface CollectionDefinition<Document extends object> {
  /** Lower case with underscores; MongoDB's name of the collection. */
  readonly name: string;
  /** Checked before a document is written, and after it is read. */
  readonly schema: z.ZodType<Document>;
  /** The fields whose values together are unique. */
  readonly key: readonly (keyof Document & string)[];
  /** Further lists of fields that documents are found by. */
  readonly indexes: readonly (readonly (keyof Document & string)[])[];
}

/** The documents of one kind. Every method throws a PlatformError `storage` as those of ResultStore do. */
export interface Collection<Document extends object> {
  /** Inserts, or replaces the one with the same key; idempotent. */
  put(document: Document): Promise<void>;
  /** The same for several; either order, each at most once. */
  putMany(documents: readonly Document[]): Promise<void>;
  /** @param key values for all fields of the key */
  get(key: Partial<Document>): Promise<Document | undefined>;
  /**
   * Those whose fields equal the given ones, in the order of their keys; all without any. `match` names the fields of the key (a
   * leading part will do) or of one index.
   */
  find(match: Partial<Document>): AsyncIterable<Document>;
  /** Removes what `match`, as in {@link Collection.find}, finds. @returns how many */
  delete(match: Partial<Document>): Promise<number>;
}
