import type { ResultStore } from '../result-store.js';
import { type Measurement, type MeasurementKey, measurementKey } from '../../measurement/measurement.js';
import type { System } from '../../measurement/system.js';
import type { Collection, CollectionDefinition, CollectionShape } from '../collection.js';
import { checkedDocument, type CheckedDocument, isTextOf } from '../collection-document.js';
import { encodeTexts } from '../key-bytes.js';
import { requireShape } from '../collection-shape.js';
import { measurementId } from '../measurement-id.js';
import { closedError } from '../storage-error.js';
import { countMeasurements, type SystemCounts } from '../system-counts.js';
import { selectOne, selectBy, type Selection } from '../selection.js';

/** By the bytes of the key, with one character for each byte, so that the order of the texts is that of the bytes. */
type StoredDocuments = Map<string, CheckedDocument>;

class MemoryCollection<Document extends object> implements Collection<Document> {
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

/** Keeps everything in this process and forgets it at its end: for tests, and for runs that should leave no trace. */
export class MemoryResultStore implements ResultStore {
  readonly #measurements = new Map<string, Measurement>();
  readonly #systems = new Map<string, System>();
  readonly #collections = new Map<string, { readonly shape: CollectionShape; readonly documents: StoredDocuments }>();
  #closed = false;

  // Async, so that every failure is a rejection, as with an asynchronous backend.
  async putMeasurement(measurement: Measurement): Promise<void> {
    this.#requireOpen();
    const { signature, system, setup } = measurementKey(measurement);
    this.#measurements.set(storedKey(signature, system, setup), measurement);
    this.#systems.set(system, measurement.system);
    return Promise.resolve();
  }

  readonly findMeasurements: ResultStore['findMeasurements'] = async (signatures, system, setup) => {
    this.#requireOpen();
    const found = new Map<string, Measurement>();
    for (const signature of signatures) {
      const measurement = this.#measurements.get(storedKey(signature, system, setup));
      if (measurement !== undefined) found.set(signature, measurement);
    }
    return Promise.resolve(found);
  };

  async measurementsOf(signature: string): Promise<readonly Measurement[]> {
    this.#requireOpen();
    return Promise.resolve([...this.#measurements.values()].filter((one) => one.signature === signature));
  }

  async deleteMeasurements(keys: readonly MeasurementKey[]): Promise<number> {
    this.#requireOpen();
    const deleted = keys.filter(({ signature, system, setup }) => {
      return this.#measurements.delete(storedKey(signature, system, setup));
    });
    return Promise.resolve(deleted.length);
  }

  async listSystems(): Promise<readonly System[]> {
    this.#requireOpen();
    return Promise.resolve([...this.#systems.values()]);
  }

  async *listMeasurements(): AsyncIterable<Measurement> {
    this.#requireOpen();
    const id = (measurement: Measurement): string => measurementId(measurementKey(measurement)) ?? '';
    const measurements = [...this.#measurements.values()].sort((a, b) => (id(a) < id(b) ? -1 : 1));
    for (const measurement of measurements) yield Promise.resolve(measurement);
  }

  countSystems(): Promise<readonly SystemCounts[]> {
    return countMeasurements(this.listMeasurements());
  }

  async listCollections(): Promise<readonly CollectionShape[]> {
    this.#requireOpen();
    const shapes = [...this.#collections.values()]
      .filter(({ documents }) => documents.size > 0)
      .map(({ shape }) => shape);
    return Promise.resolve(shapes.sort((a, b) => (a.name < b.name ? -1 : 1)));
  }

  collection<Document extends object>(definition: CollectionDefinition<Document>): Collection<Document> {
    const shape = requireShape(definition);
    const { documents } = this.#collections.get(shape.name) ?? { documents: new Map<string, CheckedDocument>() };
    this.#collections.set(shape.name, { shape, documents });
    return new MemoryCollection(definition, documents, () => this.#requireOpen());
  }

  async close(): Promise<void> {
    this.#closed = true;
    return Promise.resolve();
  }

  #requireOpen(): void {
    if (this.#closed) throw closedError('memory:');
  }
}

function storedKey(signature: string, system: string, setup: string): string {
  return JSON.stringify([system, setup, signature]);
}

export function openMemoryStore(): Promise<ResultStore> {
  return Promise.resolve(new MemoryResultStore());
}
