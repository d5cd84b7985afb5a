import type { z } from 'zod';

/**
 * A kind of document that a store keeps besides measurements. Every backend uses the same definition (for a MongoDB
 * collection, a range of an LMDB table, a map). Fields of the key and the indexes hold texts at the top level of a
 * document. The fields of the key are required.
 */
export interface CollectionDefinition<Document extends object> extends CollectionShape<keyof Document & string> {
  /** Checked before a document is written, and after it is read. Documents hold only JSON values. */
  readonly schema: z.ZodType<Document>;
  /**
   * Documents are useful only if others see them at once, so they are never spooled while the server is unavailable.
   */
  readonly isMomentary?: true;
}

export interface CollectionShape<Field extends string = string> {
  /** Lower case with underscores; MongoDB's name of the collection. */
  readonly name: string;
  /** The fields whose values together are unique. */
  readonly key: readonly Field[];
  /**
   * Further lists of fields that documents are found by. A document that lacks one of them is not found by that list.
   */
  readonly indexes: readonly (readonly Field[])[];
  /** Fields whose texts have another type in MongoDB, for other programs that read it. By default they are texts. */
  readonly types?: Readonly<Partial<Record<Field, FieldType>>>;
}

/** A time as Date.toISOString gives it, or an ObjectId as 24 lower-case hexadecimal digits. */
export type FieldType = 'date' | 'object_id';

export interface Collection<Document extends object> {
  /**
   * Inserts a document, or replaces the one with the same key; idempotent. Refuses a document that breaks the schema,
   * and one whose key, or whose fields of one index, are longer than {@link MAX_KEY_BYTES} together.
   */
  put(document: Document): Promise<void>;
  /** Puts several documents, in any order, each at most once. Not atomic: after a failure, some may be stored. */
  putMany(documents: readonly Document[]): Promise<void>;
  /**
   * Puts a document unless there is another one with its key. If several callers, in any processes, insert different
   * documents with one key at once, exactly one succeeds. Idempotent.
   *
   * @returns whether the store has exactly this document now
   */
  insert(document: Document): Promise<boolean>;
  /** @param key values for all fields of the key */
  get(key: Partial<Document>): Promise<Document | undefined>;
  /**
   * The documents whose fields equal the given ones, in the order of their keys (by their UTF-8 bytes). An empty
   * `match` finds all documents. `match` names leading fields of the key, or all fields of one index. Concurrent
   * changes may or may not be included. A stored document that cannot be read any more counts as missing, with a
   * warning.
   */
  find(match: Partial<Document>): AsyncIterable<Document>;
  /** Number of documents, with those that cannot be read any more. */
  count(): Promise<number>;
  /** Removes the documents that `match` finds, as in {@link Collection.find}. @returns how many */
  delete(match: Partial<Document>): Promise<number>;
}

/** Bytes of UTF-8, with two for a NUL: LMDB's keys are limited to 1978 bytes, and an index holds the key as well. */
export const MAX_KEY_BYTES = 600;
