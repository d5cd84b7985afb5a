import type { ResultStore } from '../result-store.js';
import { type Measurement, type MeasurementKey, measurementKey } from '../../measurement/measurement.js';
import type { System } from '../../measurement/system.js';
import type { Collection, CollectionDefinition, CollectionShape } from '../collection.js';
import type { CheckedDocument } from '../collection-document.js';
import { requireShape } from '../collection-shape.js';
import { measurementId } from '../measurement-id.js';
import { closedError } from '../storage-error.js';
import { countMeasurements, type SystemCounts } from '../system-counts.js';
import { MemoryCollection, type StoredDocuments } from './collection.js';

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

  async findMeasurements(
    signatures: readonly string[],
    system: string,
    setup: string,
  ): Promise<ReadonlyMap<string, Measurement>> {
    this.#requireOpen();
    const found = new Map<string, Measurement>();
    for (const signature of signatures) {
      const measurement = this.#measurements.get(storedKey(signature, system, setup));
      if (measurement !== undefined) found.set(signature, measurement);
    }
    return Promise.resolve(found);
  }

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
