import { isDeepStrictEqual } from 'node:util';
import { MongoBulkWriteError, MongoServerError, type Collection, type Document, type ObjectId } from 'mongodb';
import type { PlatformError } from '../../base/errors.js';
import { partsOf } from '../../base/long-lists.js';
import { ownValue } from '../../base/own-value.js';
import { encodeTexts } from '../key-bytes.js';
import { WriteQueue } from '../write-queue.js';
import type { Connection } from './connection.js';
import { decodeDocument, encodeDocument, type FieldTypes, withoutFields } from './document-codec.js';
import { joinDocument, listPartIds, SPLIT, splitDocument, type DocumentPart } from './large-document.js';
import { DUPLICATE_KEY, isPassing, mongoError } from './mongo-error.js';

export type Id = string | ObjectId;

type Stored = Document & { readonly _id: Id };

export interface PutDocument {
  readonly id: Id;
  readonly json: object;
}

/** Ids in one request of some 100 kB. With more, servers that compare each document with each id get slow. */
const IDS_PER_REQUEST = 1000;

const BATCH = 1000;

/** The most that one request to the server writes. */
const MOST = { entries: 1000, bytes: 16 * 1024 ** 2 };

/** FerretDB keeps a cursor open for each replacement, and hangs when it has no more cursors. */
const REPLACEMENTS_PER_REQUEST = 20;

/** A document's parts may be replaced while it is read; it is then read again. */
const READ_ATTEMPTS = 5;

const READ = 'cannot be read';
const WRITE = 'could not be written to';

export class DocumentTable {
  readonly #puts = new WriteQueue<PutDocument>({
    most: MOST,
    extentOf: ({ json }) => ({ entries: 1, bytes: JSON.stringify(json).length }),
    write: (documents) => this.#write(documents),
  });
  readonly #inserts = new WriteQueue<Stored>({
    most: MOST,
    extentOf: (document) => ({ entries: 1, bytes: JSON.stringify(document).length }),
    write: (documents) => this.#insertAll(documents),
  });

  constructor(
    private readonly connection: Connection,
    private readonly name: string,
    private readonly types: FieldTypes = {},
  ) {}

  put(document: PutDocument): Promise<void> {
    return this.#puts.put(document);
  }

  /** Inserts unless there is a document with this id. @returns whether the stored document then equals this one */
  async insert({ id, json }: PutDocument): Promise<boolean> {
    const { document, parts } = splitDocument(this.#ownerOf(id), encodeDocument(json, this.types), json);
    for (const part of parts) await this.#putPart(part);
    try {
      await this.#inserts.put({ _id: id, ...document });
      return true;
    } catch (thrown) {
      if (!isDuplicate(thrown)) throw thrown;
    }
    // The stored document may be this one: the answer to an earlier attempt can be lost.
    const [there] = await this.getMany([id]);
    return there !== undefined && isDeepStrictEqual(withoutFields(there, '_id'), json);
  }

  /** The requested documents that exist, in any order, with `_id`. */
  async getMany(ids: readonly Id[]): Promise<readonly object[]> {
    const found: object[] = [];
    for (const some of partsOf(ids, IDS_PER_REQUEST)) {
      const _id = some.length === 1 ? some[0] : { $in: some };
      const documents = await this.connection.run(READ, () =>
        this.#collection.find({ _id } as Document, { batchSize: BATCH }).toArray(),
      );
      for (const document of documents) {
        const joined = await this.#joined(document);
        if (joined !== undefined) found.push(joined);
      }
    }
    return found;
  }

  count(): Promise<number> {
    return this.connection.run(READ, () => this.#collection.countDocuments());
  }

  /**
   * In the order of some fields that are unique together; after an outage, the documents already yielded are skipped.
   * @param fields the fields that are read, those of the order included; without it, all are
   */
  async *find(filter: Document, order: readonly string[], fields?: readonly string[]): AsyncIterable<object> {
    const sort = Object.fromEntries(order.map((field) => [field, 1 as const]));
    const projection = fields && {
      projection: Object.fromEntries([...fields, SPLIT].map((field) => [field, 1 as const])),
    };
    const open = () => this.#collection.find(filter, { sort, batchSize: BATCH, ...projection });
    let cursor = open();
    let last: Buffer | undefined;
    let isAgain = false;
    try {
      for (;;) {
        const document = await this.connection.run(READ, async () => {
          try {
            return await cursor.next();
          } catch (thrown) {
            await cursor.close().catch(() => undefined);
            cursor = open();
            isAgain = true;
            throw thrown;
          }
        });
        if (document === null) return;
        const encoded = encodeTexts(order.map((field) => String(ownValue<unknown>(document, field))));
        if (isAgain && last !== undefined && encoded.compare(last) <= 0) continue;
        isAgain = false;
        last = encoded;
        const joined = await this.#joined(document);
        if (joined !== undefined) yield joined;
      }
    } finally {
      await cursor.close().catch(() => undefined);
    }
  }

  async delete(filter: Document): Promise<number> {
    const split = await this.connection.run(READ, () => this.#collection.find({ ...filter, [SPLIT]: true }).toArray());
    const { deletedCount } = await this.connection.run(WRITE, () => this.#collection.deleteMany(filter));
    const _id = { $in: split.flatMap((document) => listPartIds(this.#ownerOf(document._id), document)) };
    if (_id.$in.length > 0) await this.connection.run(WRITE, () => this.#parts.deleteMany({ _id }));
    return deletedCount;
  }

  get #collection(): Collection<Stored> {
    return this.connection.db.collection<Stored>(this.name);
  }

  get #parts(): Collection<DocumentPart> {
    return this.connection.db.collection<DocumentPart>('parts');
  }

  #ownerOf(id: Id): string {
    return `${this.name}/${String(id)}`;
  }

  async #joined(document: Stored): Promise<object | undefined> {
    let current: Stored | null = document;
    for (let attempt = 0; attempt < READ_ATTEMPTS && current !== null; attempt += 1) {
      if (current[SPLIT] !== true) return decodeDocument(current);
      const owner = this.#ownerOf(current._id);
      const _id = { $in: [...listPartIds(owner, current)] };
      const parts = await this.connection.run(READ, () => this.#parts.find({ _id }).toArray());
      const joined = joinDocument(owner, current, new Map(parts.map((part) => [part._id, part])));
      if (joined !== undefined) return joined;
      current = await this.connection.run(READ, () => this.#collection.findOne({ _id: document._id }));
    }
    // Returned without the missing fields: the reader finds that they are missing, and reports it.
    return current === null ? undefined : decodeDocument(current);
  }

  async #write(documents: readonly PutDocument[]): Promise<readonly (PlatformError | undefined)[]> {
    // Of several documents with one id, only the last is written.
    const last = new Map(documents.map((document) => [String(document.id), document]));
    const split = [...last.values()].map(({ id, json }) => ({
      id,
      ...splitDocument(this.#ownerOf(id), encodeDocument(json, this.types), json),
    }));
    // Parts come first, so that a document is complete as soon as it can be seen.
    for (const { parts } of split) for (const part of parts) await this.#putPart(part);
    const stored = split.map(({ id, document }): Stored => ({ _id: id, ...document }));
    const refusals = await this.connection.run(WRITE, () => this.#insertOrReplace(stored));
    for (const [index, { id, parts }] of split.entries()) {
      if (parts.length === 0 || refusals[index] !== undefined) continue;
      const outdated = { document: this.#ownerOf(id), _id: { $nin: parts.map((part) => part._id) } };
      await this.connection.run(WRITE, () => this.#parts.deleteMany(outdated));
    }
    const refusalOf = new Map([...last.keys()].map((id, index) => [id, refusals[index]]));
    return documents.map(({ id }) => refusalOf.get(String(id)));
  }

  async #insertAll(documents: readonly Stored[]): Promise<readonly (PlatformError | undefined)[]> {
    const errors = await this.connection.run(WRITE, () =>
      collectErrors(() => this.#collection.insertMany([...documents], { ordered: false })),
    );
    return documents.map((_, index) => {
      const error = errors.get(index);
      return error && mongoError(this.connection.address, WRITE, error);
    });
  }

  async #putPart(part: DocumentPart): Promise<void> {
    await this.connection.run(WRITE, () =>
      this.#parts.updateOne({ _id: part._id }, { $setOnInsert: part }, { upsert: true }),
    );
  }

  /** Inserts all documents without a look-up, because nearly all are new. Then replaces those that existed. */
  async #insertOrReplace(documents: readonly Stored[]): Promise<readonly (PlatformError | undefined)[]> {
    const inserted = await collectErrors(() => this.#collection.insertMany([...documents], { ordered: false }));
    const there = documents.flatMap((_, index) => (inserted.get(index)?.code === DUPLICATE_KEY ? index : []));
    const replaced = new Map<number, MongoServerError>();
    for (const some of partsOf(there, REPLACEMENTS_PER_REQUEST)) {
      const replacements = some.map((index) => {
        const { _id, ...replacement } = documents[index] as Stored;
        return { replaceOne: { filter: { _id }, replacement, upsert: true } };
      });
      const errors = await collectErrors(() => this.#collection.bulkWrite(replacements, { ordered: false }));
      for (const [position, error] of errors) replaced.set(some[position] ?? -1, error);
    }
    return documents.map((_, index) => {
      const error = there.includes(index) ? replaced.get(index) : inserted.get(index);
      return error && mongoError(this.connection.address, WRITE, error);
    });
  }
}

function isDuplicate(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.cause instanceof MongoServerError && thrown.cause.code === DUPLICATE_KEY;
}

/** The errors of single writes of a batch, by index. @throws for a failure of the whole batch, or one that may pass */
async function collectErrors(write: () => Promise<unknown>): Promise<ReadonlyMap<number, MongoServerError>> {
  try {
    await write();
    return new Map();
  } catch (thrown) {
    if (!(thrown instanceof MongoBulkWriteError)) throw thrown;
    const errors = [thrown.writeErrors].flat();
    if (errors.length === 0) throw thrown;
    return new Map(
      errors.map(({ index, code, errmsg }) => {
        const error = new MongoServerError({ message: errmsg ?? 'refused', code });
        if (isPassing(error)) throw error;
        return [index, error];
      }),
    );
  }
}
