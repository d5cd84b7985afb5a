import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { sha256Of } from '../../base/sha256.js';
import { measurementKey, type Measurement, type MeasurementKey } from '../../measurement/measurement.js';
import { checkedDocument } from '../collection-document.js';
import type { CollectionDefinition } from '../collection.js';
import { openEmbeddedStore } from '../embedded/open.js';
import { measurementId } from '../measurement-id.js';
import type { ResultStore, StoreOptions } from '../result-store.js';
import { readText } from '../stored-text.js';
import { defineAnyDocument, transferRecordSchema, type TransferRecord } from '../transfer-record.js';

const spooledSchema = z.strictObject({ key: z.string(), record: z.string() });

export type Spooled = z.infer<typeof spooledSchema>;

const SPOOLED: CollectionDefinition<Spooled> = {
  name: 'spool',
  schema: spooledSchema,
  key: ['key'],
  indexes: [],
};

/** Writes that could not be sent to a server. Several processes may use a spool; the first record creates it. */
export class Spool {
  #store: Promise<ResultStore> | undefined;

  constructor(
    readonly folder: string,
    private readonly options: StoreOptions,
  ) {}

  async put(record: TransferRecord): Promise<Spooled> {
    const spooled = { key: recordKey(record), record: JSON.stringify(record) };
    await (await this.#documents()).put(spooled);
    return spooled;
  }

  /** Removes a record, unless a later version of it has taken its place. */
  async remove({ key, record }: Spooled): Promise<void> {
    const documents = await this.#documents();
    if ((await documents.get({ key }))?.record === record) await documents.delete({ key });
  }

  async findMeasurement(key: MeasurementKey): Promise<Measurement | undefined> {
    const id = measurementId(key);
    if (id === undefined || !this.#exists()) return undefined;
    const stored = await (await this.#documents()).get({ key: `measurement ${id}` });
    const read = stored && readText(stored.record, transferRecordSchema);
    return read?.ok === true && read.value.kind === 'measurement' ? read.value.measurement : undefined;
  }

  async *records(): AsyncIterable<{ readonly record: TransferRecord; readonly spooled: Spooled }> {
    if (!this.#exists()) return;
    for await (const spooled of (await this.#documents()).find({})) {
      const read = readText(spooled.record, transferRecordSchema);
      if (read.ok) yield { record: read.value, spooled };
    }
  }

  async isEmpty(): Promise<boolean> {
    for await (const { record } of this.records()) return record === undefined;
    return true;
  }

  async close(): Promise<void> {
    await (await this.#store)?.close();
  }

  #exists(): boolean {
    return this.#store !== undefined || existsSync(this.folder);
  }

  async #documents() {
    const store = (this.#store ??= openEmbeddedStore(this.folder, this.options));
    // A later attempt may succeed.
    store.catch(() => (this.#store = undefined));
    return (await store).collection(SPOOLED);
  }
}

export function spoolFolder(dataFolder: string, address: string): string {
  return join(dataFolder, 'spool', sha256Of(address).slice(0, 16));
}

/** The same key for all versions of a record, so that a later version takes the place of an earlier one. */
function recordKey(record: TransferRecord): string {
  if (record.kind === 'measurement') return `measurement ${measurementId(measurementKey(record.measurement))}`;
  const { key } = checkedDocument(defineAnyDocument(record.collection), record.document);
  const hash = sha256Of(JSON.stringify(key));
  return `document ${record.collection.name} ${hash}`;
}
