import type { z } from 'zod';

/**
 * A kind of document that a store keeps besides measurements: one definition, which every backend serves (a MongoDB
 * collection, a range of an LMDB table, a map). Fields that documents are found by hold texts, at the top of the
 * document; those of the key have to be there.
 */
export interface CollectionDefinition<Document extends object> extends CollectionShape<keyof Document & string> {
  /** Checked before a document is written, and after it is read. Documents hold only JSON values. */
  readonly schema: z.ZodType<Document>;
  /** Useful only while it is shared at once, so it never waits on this machine for a server that is gone. */
  readonly isMomentary?: true;
}

/** The definition of a kind of document. */
export interface CollectionShape<Field extends string = string> {
  /** Lower case with underscores; MongoDB's name of the collection. */
  readonly name: string;
  /** The fields whose values together are unique. */
  readonly key: readonly Field[];
  /** Further lists of fields that documents are found by. A document that lacks one of them is not found by that list. */
  readonly indexes: readonly (readonly Field[])[];
  /** Fields whose texts have a type of their own in MongoDB, for others who read there; without it they are texts there. */
  readonly types?: Readonly<Partial<Record<Field, FieldType>>>;
}

/** A time as Date.toISOString gives it, or an ObjectId as 24 lower-case hexadecimal digits. */
export type FieldType = 'date' | 'object_id';

/** The documents of one kind. Every method throws a PlatformError `storage` as those of ResultStore do. */
export interface Collection<Document extends object> {
  /**
   * Inserts, or replaces the one with the same key; idempotent. A document that breaks the schema is refused, and so is one
   * whose key, or whose fields of one index, are longer than {@link MAX_KEY_BYTES} together.
   */
  put(document: Document): Promise<void>;
  /** The same for several; either order, each at most once. Not all or nothing: a failure may leave some of them stored. */
  putMany(documents: readonly Document[]): Promise<void>;
  /**
   * Puts a document unless there is another one with its key. Of several that put different documents with one key at
   * once, in any processes, exactly one succeeds. Idempotent.
   *
   * @returns whether this very document is there now
   */
  insert(document: Document): Promise<boolean>;
  /** @param key values for all fields of the key */
  get(key: Partial<Document>): Promise<Document | undefined>;
  /**
   * The documents whose fields equal the given ones, in the order of their keys (by their UTF-8 bytes); all without any.
   * `match` names the fields of the key (a leading part will do) or all of one index. Concurrent changes may or may not
   * be included. A stored document that cannot be read any more counts as not there, and a warning says so.
   */
  find(match: Partial<Document>): AsyncIterable<Document>;
  /** Removes the documents that `match` finds, as in {@link Collection.find}. @returns how many */
  delete(match: Partial<Document>): Promise<number>;
}

/** Bytes of UTF-8, with two for a NUL: LMDB's keys are limited to 1978 bytes, and an index holds the key as well. */
export const MAX_KEY_BYTES = 600;
