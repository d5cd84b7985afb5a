import type { z } from 'zod';

/** A kind of document beside measurements. Key fields (required) and index fields hold texts at its top level. */
export interface CollectionDefinition<Document extends object> extends CollectionShape<keyof Document & string> {
  /** Checked before a document is written, and after it is read. Documents hold only JSON values. */
  readonly schema: z.ZodType<Document>;
  /** Of use only if others see it at once: never spooled while the server is unavailable. */
  readonly isMomentary?: true;
}

export interface CollectionShape<Field extends string = string> {
  /** Lower case with underscores; MongoDB's name of the collection. */
  readonly name: string;
  readonly key: readonly Field[];
  /** Further lists of fields to find documents by; a document that lacks one of them is not found by that list. */
  readonly indexes: readonly (readonly Field[])[];
  /** Fields whose texts have another type in MongoDB, for other programs that read it. By default they are texts. */
  readonly types?: Readonly<Partial<Record<Field, FieldType>>>;
}

/** A time as Date.toISOString gives it, or an ObjectId as 24 lower-case hexadecimal digits. */
export type FieldType = 'date' | 'object_id';

export interface Collection<Document extends object> {
  /** Inserts, or replaces the one with the same key; idempotent. Refuses a key or index over {@link MAX_KEY_BYTES}. */
  put(document: Document): Promise<void>;
  /** Puts several documents, in any order, each at most once. Not atomic: after a failure, some may be stored. */
  putMany(documents: readonly Document[]): Promise<void>;
  /**
   * Puts a document unless another one has its key; idempotent. Of several that insert different documents with one key
   * at once, in any processes, exactly one succeeds. @returns whether the store has exactly this document now
   */
  insert(document: Document): Promise<boolean>;
  /** @param key values for all fields of the key */
  get(key: Partial<Document>): Promise<Document | undefined>;
  /**
   * In the order of the keys' UTF-8 bytes. `match` names leading fields of the key (none: all documents) or all fields
   * of one index. Concurrent changes may be missed. A document that cannot be read counts as missing, with a warning.
   */
  find(match: Partial<Document>): AsyncIterable<Document>;
  /** Number of documents, with those that cannot be read any more. */
  count(): Promise<number>;
  /** Removes the documents that `match` finds, as in {@link Collection.find}. @returns how many */
  delete(match: Partial<Document>): Promise<number>;
}

/** Bytes of UTF-8, with two for a NUL: LMDB's keys are limited to 1978 bytes, and an index holds the key as well. */
export const MAX_KEY_BYTES = 600;
