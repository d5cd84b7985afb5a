import { collect } from '../../base/collect.js';
import { partsOf } from '../../base/long-lists.js';
import { type Measurement, type MeasurementKey, measurementKey } from '../../measurement/measurement.js';
import { systemSchema, type System } from '../../measurement/system.js';
import type { Collection, CollectionDefinition, CollectionShape } from '../collection.js';
import { collectionShapeSchema, requireShape } from '../collection-shape.js';
import { storedDocumentSchema, toDocuments } from '../measurement-document.js';
import { hasKey, measurementId } from '../measurement-id.js';
import type { ResultStore } from '../result-store.js';
import { readJson, type Read } from '../stored-text.js';
import { type Counted, countedSchema, countMeasurements, type SystemCounts } from '../system-counts.js';
import { MongoCollection } from './collection.js';
import type { Connection } from './connection.js';
import { documentIdOf, withoutFields } from './document-codec.js';
import { DocumentTable } from './document-table.js';

/** See {@link countedSchema}. */
const COUNTED_FIELDS = ['_id', 'system', 'measuredAt', 'outcome.kind', 'conditions'];

/** Ids in one request: some 100 kB. */
const DELETED_PER_REQUEST = 1000;

export class MongoResultStore implements ResultStore {
  readonly isShared = true;
  readonly #measurements: DocumentTable;
  readonly #systems: DocumentTable;
  readonly #shapes: DocumentTable;
  readonly #collections = new Map<string, DocumentTable>();
  readonly #storedSystems = new Map<string, Promise<void>>();
  readonly #knownSystems = new Map<string, Read<System>>();

  constructor(private readonly connection: Connection) {
    this.#measurements = new DocumentTable(connection, 'measurements');
    this.#systems = new DocumentTable(connection, 'systems');
    this.#shapes = new DocumentTable(connection, 'collections');
  }

  get address(): string {
    return this.connection.address;
  }

  async putMeasurement(measurement: Measurement): Promise<void> {
    this.connection.requireOpen();
    const { document, system } = toDocuments(measurement);
    const key = measurementKey(measurement);
    const id = measurementId(key) ?? '';
    const json = { fingerprint: key.system, protocolKey: key.setup, ...document };
    // The system is stored first: a measurement that can be seen can be read.
    const stored = this.#storeSystem(document.system, system);
    await this.connection.track(stored.then(() => this.#measurements.put({ id, json })));
  }

  readonly findMeasurements: ResultStore['findMeasurements'] = async (signatures, system, setup) => {
    this.connection.requireOpen();
    const ids = signatures.flatMap((signature) => measurementId({ signature, system, setup }) ?? []);
    const stored = new Map<unknown, object>();
    for (const document of await this.#measurements.getMany(ids)) stored.set(documentIdOf(document), document);
    await this.#fetchSystems([...stored.values()]);
    const found = new Map<string, Measurement>();
    const problems: string[] = [];
    for (const signature of signatures) {
      const key = { signature, system, setup };
      const document = stored.get(measurementId(key));
      if (document === undefined) continue;
      const read = this.#read(document);
      if (read.ok && hasKey(read.value, key)) found.set(signature, read.value);
      else problems.push(`${signature}: ${read.ok ? 'it is another measurement' : read.problem}`);
    }
    this.connection.warnOf(problems);
    return found;
  };

  async deleteMeasurements(keys: readonly MeasurementKey[]): Promise<number> {
    this.connection.requireOpen();
    const ids = keys.flatMap((key) => measurementId(key) ?? []);
    let deleted = 0;
    for (const some of partsOf(ids, DELETED_PER_REQUEST)) {
      deleted += await this.connection.track(this.#measurements.delete({ _id: { $in: some } }));
    }
    return deleted;
  }

  async listSystems(): Promise<readonly System[]> {
    this.connection.requireOpen();
    const systems = new Map<string, System>();
    const problems: string[] = [];
    for await (const document of this.#systems.find({}, ['_id'])) {
      const read = readSystem(document);
      if (read.ok) systems.set(read.value.fingerprint, read.value);
      else problems.push(`system ${String(documentIdOf(document))}: ${read.problem}`);
    }
    this.connection.warnOf(problems);
    return [...systems.values()];
  }

  listMeasurements(): AsyncIterable<Measurement> {
    return this.#findMeasurements({});
  }

  measurementsOf(signature: string): Promise<readonly Measurement[]> {
    return collect(this.#findMeasurements({ signature }));
  }

  async *#findMeasurements(filter: { readonly signature?: string }): AsyncIterable<Measurement> {
    this.connection.requireOpen();
    const problems: string[] = [];
    for await (const document of this.#measurements.find(filter, ['_id'])) {
      await this.#fetchSystems([document]);
      const read = this.#read(document);
      if (read.ok) yield read.value;
      else problems.push(`${String(documentIdOf(document))}: ${read.problem}`);
    }
    this.connection.warnOf(problems);
  }

  countSystems(): Promise<readonly SystemCounts[]> {
    return countMeasurements(this.#counted());
  }

  /** All measurements, of which only the fields that are counted are transferred. */
  async *#counted(): AsyncIterable<Counted> {
    this.connection.requireOpen();
    const problems: string[] = [];
    for await (const document of this.#measurements.find({}, ['_id'], COUNTED_FIELDS)) {
      await this.#fetchSystems([document]);
      const read = readJson(document, countedSchema);
      const system = read.ok ? this.#knownSystems.get(read.value.system) : undefined;
      if (read.ok && system?.ok === true) yield { ...read.value, system: system.value };
      else problems.push(`${String(documentIdOf(document))}: ${read.ok ? 'its system is missing' : read.problem}`);
    }
    this.connection.warnOf(problems);
  }

  async listCollections(): Promise<readonly CollectionShape[]> {
    this.connection.requireOpen();
    const shapes: CollectionShape[] = [];
    for await (const document of this.#shapes.find({}, ['_id'])) {
      const name = documentIdOf(document);
      const read = readJson({ name, ...withoutFields(document, '_id') }, collectionShapeSchema);
      if (read.ok) shapes.push(read.value);
      else this.connection.warnOf([`collection ${String(name)}: ${read.problem}`]);
    }
    return shapes;
  }

  collection<Document extends object>(definition: CollectionDefinition<Document>): Collection<Document> {
    requireShape(definition);
    const { name, types } = definition;
    const table = this.#collections.get(name) ?? new DocumentTable(this.connection, name, types);
    this.#collections.set(name, table);
    return new MongoCollection(definition, this.connection, table, this.#shapes);
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  #storeSystem(id: string, system: System): Promise<void> {
    const stored = this.#storedSystems.get(id) ?? this.#systems.put({ id, json: system });
    this.#storedSystems.set(id, stored);
    stored.catch(() => this.#storedSystems.delete(id));
    return stored;
  }

  /** Thousands of measurements share a system: each system is fetched once. */
  async #fetchSystems(documents: readonly object[]): Promise<void> {
    const wanted = new Set(documents.flatMap((document) => ('system' in document ? String(document.system) : [])));
    const missing = [...wanted].filter((id) => this.#knownSystems.get(id)?.ok !== true);
    for (const document of await this.#systems.getMany(missing)) {
      this.#knownSystems.set(String(documentIdOf(document)), readSystem(document));
    }
  }

  #read(document: object): Read<Measurement> {
    const json = withoutFields(document, '_id', 'fingerprint', 'protocolKey');
    const read = readJson(json, storedDocumentSchema);
    if (!read.ok) return read;
    const system = this.#knownSystems.get(read.value.system) ?? { ok: false, problem: 'its system is missing' };
    return system.ok ? { ok: true, value: { ...read.value, system: system.value } } : system;
  }
}

function readSystem(document: object): Read<System> {
  return readJson(withoutFields(document, '_id'), systemSchema);
}
