import type { Collection, CollectionDefinition } from '../collection.js';
import { checkedDocument, type CheckedDocument, isTextOf } from '../collection-document.js';
import { encodeTexts } from '../key-bytes.js';
import { selectOne, selectBy, type Selection } from '../selection.js';

/** By the bytes of the key, with one character for each byte, so that the order of the texts is that of the bytes. */
export type StoredDocuments = Map<string, CheckedDocument>;

export class MemoryCollection<Document extends object> implements Collection<Document> {
  constructor(
    private readonly definition: CollectionDefinition<Document>,
    private readonly stored: StoredDocuments,
    private readonly requireOpen: () => void,
  ) {}

  put(document: Document): Promise<void> {
    return this.putMany([document]);
  }

  // Async, so that every failure is a rejection, as with an asynchronous backend.
  async putMany(documents: readonly Document[]): Promise<void> {
    this.requireOpen();
    const all = documents.map((document) => checkedDocument(this.definition, document));
    for (const checked of all) this.stored.set(encodeTexts(checked.key).toString('latin1'), checked);
    return Promise.resolve();
  }

  async insert(document: Document): Promise<boolean> {
    this.requireOpen();
    const checked = checkedDocument(this.definition, document);
    const encodedKey = encodeTexts(checked.key).toString('latin1');
    const there = this.stored.get(encodedKey) ?? checked;
    this.stored.set(encodedKey, there);
    return Promise.resolve(isTextOf(there.text, checked));
  }

  async get(key: Partial<Document>): Promise<Document | undefined> {
    this.requireOpen();
    const { texts } = selectOne(this.definition, key);
    const found = this.stored.get(encodeTexts(texts).toString('latin1'));
    return Promise.resolve(found && this.#read(found));
  }

  async *find(match: Partial<Document>): AsyncIterable<Document> {
    this.requireOpen();
    for (const [, checked] of this.#select(selectBy(this.definition, match))) {
      this.requireOpen();
      yield Promise.resolve(this.#read(checked));
    }
  }

  async count(): Promise<number> {
    this.requireOpen();
    return Promise.resolve(this.stored.size);
  }

  async delete(match: Partial<Document>): Promise<number> {
    this.requireOpen();
    const selected = this.#select(selectBy(this.definition, match));
    for (const [key] of selected) this.stored.delete(key);
    return Promise.resolve(selected.length);
  }

  #select({ index, texts }: Selection): readonly [string, CheckedDocument][] {
    const isSelected = ({ key, indexes }: CheckedDocument): boolean => {
      const values = index === undefined ? key : indexes[index];
      return values !== undefined && texts.every((text, position) => values[position] === text);
    };
    return [...this.stored].filter(([, checked]) => isSelected(checked)).sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #read({ text }: CheckedDocument): Document {
    return JSON.parse(text) as Document;
  }
}
