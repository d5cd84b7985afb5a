import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { evaluationCollections } from '../../src/evaluation/records.js';
import { measurementKey } from '../../src/measurement/measurement.js';
import { EVALUATION_DOCUMENTS, PERFORMANCE_DOCUMENTS } from '../../src/platform-documents/documents.js';
import type { Collection } from '../../src/store/collection.js';
import { DATA_FILE } from '../../src/store/embedded/folder.js';
import { openEmbeddedStore } from '../../src/store/embedded/open.js';
import { measurementId } from '../../src/store/measurement-id.js';
import type { ResultStore, StoreOptions } from '../../src/store/result-store.js';

type Open = (options: StoreOptions) => Promise<ResultStore>;

/** Pause between two reads of a store that others write. */
const LOOK_MS = 20;

/** Reads every document of a store, then uses it. @throws where a document cannot be read, and the errors of the use */
export async function withWholeStore<T>(open: Open, use: (store: ResultStore) => Promise<T>): Promise<T> {
  const warnings: string[] = [];
  const store = await open({ onWarning: (message) => void warnings.push(message) });
  try {
    const { records, parts, arrivals, events } = evaluationCollections(store);
    await readAll(records);
    await readAll(parts);
    await readAll(arrivals);
    await readAll(events);
    await readAll(store.collection(EVALUATION_DOCUMENTS));
    await readAll(store.collection(PERFORMANCE_DOCUMENTS));
    await idsIn(store);
    if (warnings.length > 0) throw new Error(`something in the store is damaged: ${warnings.join('; ')}`);
    return await use(store);
  } finally {
    await store.close();
  }
}

async function readAll<Document extends object>(documents: Collection<Document>): Promise<void> {
  for await (const document of documents.find({})) void document;
}

async function idsIn(store: ResultStore): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const measurement of store.listMeasurements()) ids.push(measurementId(measurementKey(measurement)) ?? '');
  return ids;
}

/** @throws where a measurement that was seen before is no longer there, or anything cannot be read */
export async function assertKept(open: Open, seen: ReadonlySet<string>): Promise<void> {
  const kept = new Set(await withWholeStore(open, idsIn));
  const lost = [...seen].filter((id) => !kept.has(id));
  if (lost.length > 0) throw new Error(`${lost.length} of ${seen.size} measurements that were acknowledged are lost`);
}

/** Reads a store while others write it: the measurements that it has seen were acknowledged. */
export class StoreReader {
  readonly #stop = new AbortController();
  readonly #seen = new Set<string>();
  readonly #reading: Promise<void>;

  /** @param folder of an embedded store, which may not be there yet */
  constructor(folder: string) {
    this.#reading = this.#read(folder);
    this.#reading.catch(() => undefined);
  }

  /** Ids of the measurements that it has seen. */
  get seen(): ReadonlySet<string> {
    return this.#seen;
  }

  /** @throws where the store could not be read */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#reading;
  }

  async #read(folder: string): Promise<void> {
    const { signal } = this.#stop;
    const pause = (): Promise<void> => setTimeout(LOOK_MS, undefined, { signal }).catch(() => undefined);
    while (!existsSync(join(folder, DATA_FILE))) {
      if (signal.aborted) return;
      await pause();
    }
    const store = await openEmbeddedStore(folder, {});
    try {
      while (!signal.aborted) {
        for (const id of await idsIn(store)) this.#seen.add(id);
        await pause();
      }
    } finally {
      await store.close();
    }
  }
}
