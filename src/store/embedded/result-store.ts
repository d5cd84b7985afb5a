import type { RangeOptions } from 'lmdb';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { partsOf } from '../../base/long-lists.js';
import { type Measurement, type MeasurementKey, measurementKey } from '../../measurement/measurement.js';
import type { System } from '../../measurement/system.js';
import type { Collection, CollectionDefinition, CollectionShape } from '../collection.js';
import { collectionShapeSchema, requireShape } from '../collection-shape.js';
import { readMeasurement, readSystem, toDocuments } from '../measurement-document.js';
import { hasKey, measurementId } from '../measurement-id.js';
import { warnThroughNode, type ResultStore, type StoreOptions } from '../result-store.js';
import { readText, type Read } from '../stored-text.js';
import { closedError, unreadableMessage } from '../storage-error.js';
import { EmbeddedCollection } from './collection.js';
import type { Change, Environment, Tables } from './environment.js';
import { countMeasurements, type SystemCounts } from '../system-counts.js';
import { releaseEnvironment } from './shared-environment.js';
import {
  addEntry,
  putMeasurement,
  recount,
  removeEntries,
  removeMeasurement,
  type Summary,
  readSummary,
} from './summary.js';

/** The most bytes of the keys of a measurement, its system and its entry in the summary. */
const KEY_BYTES = 512;

const ENTRIES_PER_CHANGE = 1000;

/** The most attempts to complete the summary: other processes, also of older versions, may write meanwhile. */
const COMPLETIONS = 3;

/** Measurements that are counted without a message: a moment's work. */
const COUNTED_AT_ONCE = 10_000;

/** Measurements found in one turn of the event loop; reading and checking this many takes a few milliseconds. */
const FOUND_PER_TURN = 250;

/** Measurements deleted in one transaction, which other processes wait for. */
const DELETED_PER_CHANGE = 100;

export class EmbeddedResultStore implements ResultStore {
  readonly folder: string;
  readonly #environment: Environment;
  readonly #warn: (message: string) => void;
  readonly #puts = new Set<Promise<void>>();
  readonly #storedSystems = new Set<string>();
  #closed: Promise<void> | undefined;

  constructor(environment: Environment, options: StoreOptions) {
    this.folder = environment.folder;
    this.#environment = environment;
    this.#warn = options.onWarning ?? warnThroughNode;
  }

  async putMeasurement(measurement: Measurement): Promise<void> {
    this.requireOpen();
    const { document, system } = toDocuments(measurement);
    const systemText = this.#storedSystems.has(document.system) ? undefined : JSON.stringify(system);
    const key = measurementId(measurementKey(measurement)) ?? '';
    const text = JSON.stringify(document);
    const bytes = Buffer.byteLength(text) + Buffer.byteLength(systemText ?? '') + KEY_BYTES;
    await this.#change(6, bytes, (tables) => {
      if (systemText !== undefined) tables.systems.putSync(document.system, systemText);
      putMeasurement(tables, key, text);
    });
    this.#storedSystems.add(document.system);
  }

  readonly findMeasurements: ResultStore['findMeasurements'] = async (signatures, system, setup) => {
    this.requireOpen();
    const systemOf = this.#systemReader();
    const found = new Map<string, Measurement>();
    const problems: string[] = [];
    for (let start = 0; start < signatures.length; start += FOUND_PER_TURN) {
      if (start > 0) await nextTurn();
      const wanted = signatures.slice(start, start + FOUND_PER_TURN).flatMap((signature) => {
        const key = { signature, system, setup };
        const id = measurementId(key);
        // The store has keys of valid measurements only, and LMDB refuses overlong keys.
        return id === undefined ? [] : [{ key, id }];
      });
      const texts = this.read(({ measurements }) => wanted.map(({ id }) => measurements.get(id)));
      for (const [index, { key }] of wanted.entries()) {
        const text = texts[index];
        if (text === undefined) continue;
        const read = readMeasurement(text, systemOf);
        if (read.ok && hasKey(read.value, key)) found.set(key.signature, read.value);
        else problems.push(`${key.signature}: ${read.ok ? 'it is another measurement' : read.problem}`);
      }
    }
    this.warnOf(problems);
    return found;
  };

  async measurementsOf(signature: string): Promise<readonly Measurement[]> {
    const systemOf = this.#systemReader();
    const found: Measurement[] = [];
    const problems: string[] = [];
    let start: string | undefined = '';
    for (let count = 1; start !== undefined; count++) {
      if (count % FOUND_PER_TURN === 0) await nextTurn();
      const from: string = start;
      // Measurements are in the order of systems and setups. Each search skips to the next of these.
      const next = this.read(({ measurements }) => {
        const [key] = [...measurements.getKeys({ start: from, limit: 1 })];
        const prefix = key?.slice(0, key.indexOf('.'));
        return prefix === undefined ? undefined : { prefix, text: measurements.get(`${prefix}.${signature}`) };
      });
      start = next && `${next.prefix}/`;
      if (next?.text === undefined) continue;
      const read = readMeasurement(next.text, systemOf);
      if (read.ok) found.push(read.value);
      else problems.push(`${signature}: ${read.problem}`);
    }
    this.warnOf(problems);
    return found;
  }

  async deleteMeasurements(keys: readonly MeasurementKey[]): Promise<number> {
    this.requireOpen();
    const ids = keys.flatMap((key) => measurementId(key) ?? []);
    let deleted = 0;
    const changes: Promise<void>[] = [];
    for (const some of partsOf(ids, DELETED_PER_CHANGE)) {
      const change = (tables: Tables): void => {
        for (const id of some) if (removeMeasurement(tables, id)) deleted += 1;
      };
      changes.push(this.#change(3 * some.length, 0, change));
    }
    await Promise.all(changes);
    return deleted;
  }

  async listSystems(): Promise<readonly System[]> {
    const systems = new Map<string, System>();
    const problems: string[] = [];
    for (const { key, value } of this.read((tables) => [...tables.systems.getRange()])) {
      const read = readSystem(value);
      if (read.ok) systems.set(read.value.fingerprint, read.value);
      else problems.push(`system ${key}: ${read.problem}`);
    }
    this.warnOf(problems);
    return Promise.resolve([...systems.values()]);
  }

  async *listMeasurements(): AsyncIterable<Measurement> {
    const systemOf = this.#systemReader();
    const problems: string[] = [];
    const pages = this.#pages(
      FOUND_PER_TURN,
      ({ measurements }, range) => [...measurements.getRange(range)],
      ({ key }) => key,
    );
    for await (const page of pages) {
      for (const { key, value } of page) {
        const read = readMeasurement(value, systemOf);
        if (read.ok) yield read.value;
        else problems.push(`${key}: ${read.problem}`);
      }
    }
    this.warnOf(problems);
  }

  /** What `read` finds of measurements, in the order of their ids, a page in each turn of the event loop. */
  async *#pages<Item>(
    size: number,
    read: (tables: Tables, range: RangeOptions) => readonly Item[],
    idOf: (item: Item) => string,
  ): AsyncIterable<readonly Item[]> {
    let start: string | undefined = '';
    while (start !== undefined) {
      const range: RangeOptions = { start, limit: size };
      const page = this.read((tables) => read(tables, range));
      yield page;
      const last = page.length < size ? undefined : page.at(-1);
      start = last && `${idOf(last)} `;
      await nextTurn();
    }
  }

  async countSystems(onSlow?: (message: string) => void): Promise<readonly SystemCounts[]> {
    this.requireOpen();
    // On a full disk, for example, the measurements can be counted anyway.
    const summary = await this.#completeSummary(onSlow).catch(() => undefined);
    if (summary === undefined) return countMeasurements(this.listMeasurements());
    const problems: string[] = [];
    const counts = this.read((tables) => {
      return summary.systems.flatMap(({ fingerprint, ...counts }): SystemCounts | readonly [] => {
        const [text] = [...tables.systems.getRange({ start: fingerprint, limit: 1 })];
        const read = readSystem(text?.value);
        if (read.ok && read.value.fingerprint === fingerprint) return { system: read.value, ...counts };
        problems.push(`system ${fingerprint}: ${read.ok ? 'it is missing' : read.problem}`);
        return [];
      });
    });
    this.warnOf(problems);
    return counts;
  }

  /** Makes the entries that an older version's store lacks. @returns undefined where some measurements have none */
  async #completeSummary(onSlow?: (message: string) => void): Promise<Summary | undefined> {
    for (let attempt = 0; attempt < COMPLETIONS; attempt += 1) {
      const summary = this.read(readSummary);
      if (summary.entries === summary.measurements) return summary;
      if (attempt === 0 && summary.measurements > COUNTED_AT_ONCE) {
        onSlow?.(
          `counting ${summary.measurements} measurements once, which may take a minute; later it takes a moment`,
        );
      }
      await this.#change(ENTRIES_PER_CHANGE, ENTRIES_PER_CHANGE * KEY_BYTES, recount);
      const { entries, measurements } = this.read(readSummary);
      if (entries === measurements) continue;
      // An older version has deleted or replaced measurements, but not their entries.
      if (entries > measurements) await this.#removeEntries();
      await this.#addEntries();
    }
    return undefined;
  }

  async #addEntries(): Promise<void> {
    const readIds = ({ measurements }: Tables, range: RangeOptions) => [...measurements.getKeys(range)];
    for await (const ids of this.#pages(ENTRIES_PER_CHANGE, readIds, (id) => id)) {
      await this.#change(2 * ids.length, ids.length * KEY_BYTES, (tables) => {
        for (const id of ids) addEntry(tables, id);
      });
    }
  }

  async #removeEntries(): Promise<void> {
    let areMore = true;
    while (areMore) {
      await this.#change(2 * ENTRIES_PER_CHANGE, 0, (tables) => {
        areMore = removeEntries(tables, ENTRIES_PER_CHANGE);
      });
    }
  }

  async listCollections(): Promise<readonly CollectionShape[]> {
    const shapes: CollectionShape[] = [];
    for (const { key, value } of this.read((tables) => [...tables.collections.getRange()])) {
      const read = readText(value, collectionShapeSchema);
      if (read.ok) shapes.push(read.value);
      else this.warnOf([`collection ${key}: ${read.problem}`]);
    }
    return Promise.resolve(shapes);
  }

  collection<Document extends object>(definition: CollectionDefinition<Document>): Collection<Document> {
    requireShape(definition);
    return new EmbeddedCollection(definition, this);
  }

  close(): Promise<void> {
    this.#closed ??= Promise.allSettled(this.#puts).then(() => releaseEnvironment(this.#environment));
    return this.#closed;
  }

  #change(entries: number, bytes: number, change: (tables: Tables) => void): Promise<void> {
    return this.write({ entries, bytes, apply: (tables) => void change(tables) });
  }

  async write(change: Change): Promise<void> {
    const put = this.#environment.write(change, () => this.#warn(`${WAITING} ${this.folder}.`));
    this.#puts.add(put);
    try {
      await put;
    } finally {
      this.#puts.delete(put);
    }
  }

  read<T>(reader: (tables: Tables) => T): T {
    this.requireOpen();
    return this.#environment.read(reader);
  }

  warnOf(problems: readonly string[]): void {
    if (problems.length > 0) this.#warn(unreadableMessage(this.folder, problems));
  }

  requireOpen(): void {
    if (this.#closed !== undefined) throw closedError(this.folder);
  }

  /** Reads each system once: all measurements of a plan share one or two. */
  #systemReader(): (id: string) => Read<System> {
    const known = new Map<string, Read<System>>();
    return (id) => {
      const system = known.get(id) ?? readSystem(this.read(({ systems }) => systems.get(id)));
      known.set(id, system);
      return system;
    };
  }
}

const WAITING =
  'Still waiting to store something: another process is writing to the same store and does not finish. If it is ' +
  'suspended (Ctrl-Z), resume or end it. The store is';
