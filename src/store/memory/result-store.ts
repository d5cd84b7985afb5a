import { measurementKey, type Measurement } from '../../measurement/measurement.js';
import type { System } from '../../measurement/system.js';
import type { Collection, CollectionDefinition } from '../collection.js';
import type { CheckedDocument } from '../collection-document.js';
import { requireShape } from '../collection-shape.js';
import { checkedMeasurement } from '../measurement-document.js';
import type { ResultStore } from '../result-store.js';
import { closedError } from '../storage-error.js';
import { MemoryCollection, type StoredDocuments } from './collection.js';

/** Keeps everything in this process and forgets it at its end: for tests, and for runs that should leave no trace. */
export class MemoryResultStore implements ResultStore {
  readonly #measurements = new Map<string, Measurement>();
  readonly #systems = new Map<string, System>();
  readonly #collections = new Map<string, StoredDocuments>();
  #closed = false;

  // Async, so that every failure is a rejection, as with a backend that really waits for something.
  async putMeasurement(measurement: Measurement): Promise<void> {
    this.#requireOpen();
    const checked = checkedMeasurement(measurement);
    const { signature, system, protocol } = measurementKey(checked);
    this.#measurements.set(keyOf(signature, system, protocol), checked);
    this.#systems.set(system, checked.system);
    return Promise.resolve();
  }

  async findMeasurements(
    signatures: readonly string[],
    system: string,
    protocol: string,
  ): Promise<ReadonlyMap<string, Measurement>> {
    this.#requireOpen();
    const found = new Map<string, Measurement>();
    for (const signature of signatures) {
      const measurement = this.#measurements.get(keyOf(signature, system, protocol));
      if (measurement !== undefined) found.set(signature, measurement);
    }
    return Promise.resolve(found);
  }

  async listSystems(): Promise<readonly System[]> {
    this.#requireOpen();
    return Promise.resolve([...this.#systems.values()]);
  }

  collection<Document extends object>(definition: CollectionDefinition<Document>): Collection<Document> {
    requireShape(definition);
    const stored = this.#collections.get(definition.name) ?? new Map<string, CheckedDocument>();
    this.#collections.set(definition.name, stored);
    return new MemoryCollection(definition, stored, () => this.#requireOpen());
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#measurements.clear();
    this.#systems.clear();
    this.#collections.clear();
    return Promise.resolve();
  }

  #requireOpen(): void {
    if (this.#closed) throw closedError('memory:');
  }
}

function keyOf(signature: string, system: string, protocol: string): string {
  return JSON.stringify([system, protocol, signature]);
}
