import { setImmediate as nextTurn } from 'node:timers/promises';
import { PlatformError } from '../../base/errors.js';
import { partsOf } from '../../base/long-lists.js';
import { sumOf } from '../../base/sum-of.js';
import { type Collection, type CollectionDefinition, MAX_KEY_BYTES } from '../collection.js';
import { checkedDocument, type CheckedDocument, isTextOf } from '../collection-document.js';
import { matches, selectOne, selectBy, type Selection } from '../selection.js';
import { readText } from '../stored-text.js';
import { DocumentTable, type DocumentPage } from './document-table.js';
import type { Tables } from './environment.js';
import type { EmbeddedResultStore } from './result-store.js';

/** Documents that are read, put or deleted at once, which takes a few milliseconds. */
const PAGE = 100;

/** Reading a text this long, and parsing it, take a turn of the event loop each. */
const LARGE = 2 ** 20;

export class EmbeddedCollection<Document extends object> implements Collection<Document> {
  readonly #table: DocumentTable;
  /** The most entries that a change of one document touches: its own, and an old and a new one for each index. */
  readonly #entriesEach: number;

  constructor(
    private readonly definition: CollectionDefinition<Document>,
    private readonly store: EmbeddedResultStore,
  ) {
    this.#table = new DocumentTable(definition);
    this.#entriesEach = 1 + 2 * definition.indexes.length;
  }

  put(document: Document): Promise<void> {
    return this.putMany([document]);
  }

  async putMany(documents: readonly Document[]): Promise<void> {
    this.store.requireOpen();
    const checked = documents.map((document) => checkedDocument(this.definition, document));
    await this.#requireShape();
    const puts: Promise<void>[] = [];
    for (const page of partsOf(checked, PAGE)) {
      puts.push(
        this.#write(page, (tables) => {
          for (const one of page) this.#table.put(tables, one);
        }),
      );
    }
    await Promise.all(puts);
  }

  async insert(document: Document): Promise<boolean> {
    this.store.requireOpen();
    const checked = checkedDocument(this.definition, document);
    await this.#requireShape();
    let isThere = false;
    await this.#write([checked], (tables) => {
      const there = this.#table.get(tables, checked.key);
      if (there === undefined) this.#table.put(tables, checked);
      isThere = there === undefined || isTextOf(there, checked);
    });
    return isThere;
  }

  async get(key: Partial<Document>): Promise<Document | undefined> {
    const selection = selectOne(this.definition, key);
    if (selection.impossible) return undefined;
    const text = this.store.read((tables) => this.#table.get(tables, selection.texts));
    if (text === undefined) return undefined;
    if (text.length >= LARGE) await nextTurn();
    return this.#readAll([text], selection)[0];
  }

  async *find(match: Partial<Document>): AsyncIterable<Document> {
    for await (const { documents, selection } of this.#pages(match)) {
      yield* this.#readAll(
        documents.map(({ text }) => text),
        selection,
      );
    }
  }

  async count(): Promise<number> {
    return Promise.resolve(this.store.read((tables) => this.#table.count(tables)));
  }

  async delete(match: Partial<Document>): Promise<number> {
    let deleted = 0;
    for await (const { documents, selection } of this.#pages(match)) {
      await this.store.write({
        entries: documents.length * this.#entriesEach,
        bytes: 0,
        apply: (tables) => {
          for (const { key } of documents) {
            const text = tables.documents.get(key);
            // Another process may have changed it meanwhile.
            if (text === undefined || !this.#isSelected(text, selection)) continue;
            this.#table.delete(tables, key);
            deleted += 1;
          }
          return undefined;
        },
      });
    }
    return deleted;
  }

  async *#pages(match: Partial<Document>): AsyncIterable<DocumentPage & { readonly selection: Selection }> {
    const selection = selectBy(this.definition, match);
    if (selection.impossible) return;
    if (this.store.read((tables) => this.#table.hasShape(tables)) === undefined) return;
    await this.#requireShape();
    let next: Buffer | undefined;
    do {
      const page: DocumentPage = this.store.read((tables) => this.#table.page(tables, selection, next, PAGE));
      if (page.documents.some(({ text }) => text.length >= LARGE)) await nextTurn();
      yield { ...page, selection };
      next = page.next;
      await nextTurn();
    } while (next !== undefined);
  }

  #write(documents: readonly CheckedDocument[], apply: (tables: Tables) => void): Promise<void> {
    const keyBytes = this.#entriesEach * 2 * MAX_KEY_BYTES;
    return this.store.write({
      entries: documents.length * this.#entriesEach,
      bytes: sumOf(documents.map(({ text }) => Buffer.byteLength(text) + keyBytes)),
      apply: (tables) => {
        if (this.#table.hasShape(tables) !== true) return this.#changedMeanwhile();
        apply(tables);
        return undefined;
      },
    });
  }

  async #requireShape(): Promise<void> {
    const { fits, count } = this.store.read((tables) => {
      const fits = this.#table.hasShape(tables);
      return { fits, count: fits === false ? this.#table.count(tables) : 0 };
    });
    if (fits === true) return;
    const entries = 1 + count * this.#entriesEach;
    await this.store.write({
      entries,
      bytes: entries * 2 * MAX_KEY_BYTES,
      apply: (tables) => {
        if (this.#table.hasShape(tables) === true) return undefined;
        return this.#table.adopt(tables, this.store.folder);
      },
    });
  }

  #readAll(texts: readonly string[], selection: Selection): readonly Document[] {
    const problems: string[] = [];
    const documents = texts.flatMap((text): Document | readonly [] => {
      const read = readText(text, this.definition.schema);
      if (read.ok && matches(this.definition, selection, read.value)) return read.value;
      problems.push(`a document of ${this.definition.name}: ${read.ok ? 'it is another one' : read.problem}`);
      return [];
    });
    this.store.warnOf(problems);
    return documents;
  }

  #isSelected(text: string, selection: Selection): boolean {
    if (selection.index === undefined) return true;
    const read = readText(text, this.definition.schema);
    return read.ok && matches(this.definition, selection, read.value);
  }

  #changedMeanwhile(): PlatformError {
    return new PlatformError(
      'storage',
      `The store ${this.store.folder} is being used by another version of this program, which keeps ` +
        `${this.definition.name} in another way. End that one, and run the same command again.`,
    );
  }
}
