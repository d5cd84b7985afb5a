import type { Document as BsonDocument } from 'mongodb';
import type { Collection, CollectionDefinition } from '../collection.js';
import { checkedDocument, type CheckedDocument } from '../collection-document.js';
import { requireShape } from '../collection-shape.js';
import { selectOne, selectBy, type Selection } from '../selection.js';
import { otherKeyError } from '../storage-error.js';
import { readJson } from '../stored-text.js';
import type { Connection } from './connection.js';
import { encodeName, encodeTyped, documentIdOf, withoutFields } from './document-codec.js';
import type { DocumentTable, Id, PutDocument } from './document-table.js';
import { ensureStructure } from './structure.js';
import { buildValidator } from './validator.js';

/** The `_id` is the key: its only field if that is called `_id`, else the key's values as a JSON list. */
export class MongoCollection<Document extends object> implements Collection<Document> {
  #prepared: Promise<void> | undefined;

  constructor(
    private readonly definition: CollectionDefinition<Document>,
    private readonly connection: Connection,
    private readonly table: DocumentTable,
    private readonly shapes: DocumentTable,
  ) {}

  put(document: Document): Promise<void> {
    return this.putMany([document]);
  }

  async putMany(documents: readonly Document[]): Promise<void> {
    this.connection.requireOpen();
    const puts = documents.map((document) => this.#toPut(checkedDocument(this.definition, document)));
    await this.connection.track(this.#prepare().then(() => Promise.all(puts.map((put) => this.table.put(put)))));
  }

  async insert(document: Document): Promise<boolean> {
    this.connection.requireOpen();
    const put = this.#toPut(checkedDocument(this.definition, document));
    return this.connection.track(this.#prepare().then(() => this.table.insert(put)));
  }

  async get(key: Partial<Document>): Promise<Document | undefined> {
    this.connection.requireOpen();
    const selection = selectOne(this.definition, key);
    if (selection.impossible) return undefined;
    const [found] = await this.table.getMany([this.#idOf(selection.texts)]);
    return found && this.#read(found);
  }

  async *find(match: Partial<Document>): AsyncIterable<Document> {
    this.connection.requireOpen();
    const selection = selectBy(this.definition, match);
    if (selection.impossible) return;
    if (!this.connection.isOnlyRead) await this.#prepare();
    for await (const found of this.table.find(this.#buildFilter(selection), this.definition.key.map(encodeName))) {
      this.connection.requireOpen();
      const document = this.#read(found);
      if (document !== undefined) yield document;
    }
  }

  count(): Promise<number> {
    this.connection.requireOpen();
    return this.table.count();
  }

  async delete(match: Partial<Document>): Promise<number> {
    this.connection.requireOpen();
    const selection = selectBy(this.definition, match);
    if (selection.impossible) return 0;
    return this.connection.track(this.table.delete(this.#buildFilter(selection)));
  }

  #toPut({ key, text }: CheckedDocument): PutDocument {
    return { id: this.#idOf(key), json: withoutFields(JSON.parse(text) as object, '_id') };
  }

  get #hasOwnId(): boolean {
    return this.definition.key.length === 1 && this.definition.key[0] === '_id';
  }

  #idOf(key: readonly string[]): Id {
    if (!this.#hasOwnId) return JSON.stringify(key);
    return encodeTyped(key[0], this.definition.types?.[this.definition.key[0] as keyof Document & string]) as Id;
  }

  #buildFilter({ index, texts }: Selection): BsonDocument {
    const { key, indexes, types } = this.definition;
    const fields = index === undefined ? key : (indexes[index] ?? []);
    return Object.fromEntries(
      texts.map((text, position) => {
        const field = fields[position] as keyof Document & string;
        return [encodeName(field), encodeTyped(text, types?.[field])];
      }),
    );
  }

  #read(found: object): Document | undefined {
    const read = readJson(this.#hasOwnId ? found : withoutFields(found, '_id'), this.definition.schema);
    if (read.ok) return read.value;
    this.connection.warnOf([`a document of ${this.definition.name} (${String(documentIdOf(found))}): ${read.problem}`]);
    return undefined;
  }

  /** Runs once per object. Creates the collection's structure on the server, and stores its shape for transfers. */
  #prepare(): Promise<void> {
    this.#prepared ??= this.#ensure().catch((thrown: unknown) => {
      this.#prepared = undefined;
      throw thrown;
    });
    return this.#prepared;
  }

  async #ensure(): Promise<void> {
    const { name, key, schema, indexes } = this.definition;
    const shape = withoutFields(requireShape(this.definition), 'name');
    const [stored] = await this.shapes.getMany([name]);
    if (stored !== undefined && 'key' in stored && JSON.stringify(stored.key) !== JSON.stringify(key)) {
      throw otherKeyError(this.connection.address, name);
    }
    const typed = Object.keys(this.definition.types ?? {});
    await ensureStructure(this.connection, {
      name,
      validator: buildValidator(schema, typed),
      indexes: [
        ...(this.#hasOwnId ? [] : [{ fields: key.map(encodeName), unique: true }]),
        ...indexes.map((fields) => ({ fields: fields.map(encodeName), unique: false })),
      ],
    });
    await this.shapes.put({ id: name, json: shape });
  }
}
