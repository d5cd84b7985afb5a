import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, PlatformError } from '../../base/errors.js';
import type { Measurement, MeasurementKey } from '../../measurement/measurement.js';
import type { Collection, CollectionDefinition } from '../collection.js';
import { requireShape } from '../collection-shape.js';
import type { ResultStore } from '../result-store.js';
import type { TransferRecord } from '../transfer-record.js';
import type { Spool } from './spool.js';
import { sendSpooled } from './sync.js';

/** A write that the server has not confirmed by then goes into the spool as well, where it survives a kill -9. */
const SAFE_AFTER_MS = 1_000;

/** Pause between two attempts to send what waits to a server that is gone. */
const SEND_AGAIN_MS = 10_000;

export interface SpoolingOptions {
  readonly warn: (message: string) => void;
  /** Called with whether writes wait in the spool, when this changes. */
  readonly onSpooled: (areWaiting: boolean) => void;
  readonly sendAgainMs?: number;
}

/**
 * Writes that the server does not confirm stay in a spool. Once it counts as gone, puts and finds do not call it, until
 * it answers again and has all that waited.
 */
export class SpoolingResultStore implements ResultStore {
  readonly isShared = true;
  #isUnavailable = false;
  #areWaiting = false;
  #hasWarnedOfSpool = false;
  #closed: Promise<void> | undefined;
  readonly #puts = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  #sending: Promise<void> = Promise.resolve();

  constructor(
    private readonly remote: ResultStore,
    private readonly spool: Spool,
    private readonly options: SpoolingOptions,
  ) {}

  get isUnavailable(): boolean {
    return this.#isUnavailable;
  }

  putMeasurement(measurement: Measurement): Promise<void> {
    const record: TransferRecord = { kind: 'measurement', measurement: structuredClone(measurement) };
    return this.#put(record, () => this.remote.putMeasurement(measurement));
  }

  readonly findMeasurements: ResultStore['findMeasurements'] = async (signatures, system, setup) => {
    const stored = this.#isUnavailable
      ? new Map<string, Measurement>()
      : await this.remote.findMeasurements(signatures, system, setup);
    const found = new Map<string, Measurement>();
    for (const signature of signatures) {
      const spooled = () => this.#attempt(() => this.spool.findMeasurement({ signature, system, setup }));
      const measurement = stored.get(signature) ?? (await spooled());
      if (measurement !== undefined) found.set(signature, measurement);
    }
    return found;
  };

  // What waits on this machine is not in the answers of these.
  readonly measurementsOf = (signature: string) => this.remote.measurementsOf(signature);
  readonly deleteMeasurements = (keys: readonly MeasurementKey[]) => this.remote.deleteMeasurements(keys);
  readonly listSystems = () => this.remote.listSystems();
  readonly countSystems = (onSlow?: (message: string) => void) => this.remote.countSystems(onSlow);
  readonly listMeasurements = () => this.remote.listMeasurements();
  readonly listCollections = () => this.remote.listCollections();

  collection<Document extends object>(definition: CollectionDefinition<Document>): Collection<Document> {
    const collection = this.remote.collection(definition);
    if (definition.isMomentary === true) return collection;
    const shape = requireShape(definition);
    const put = (document: Document): Promise<void> => {
      const copy = structuredClone(document) as Record<string, unknown>;
      return this.#put({ kind: 'document', collection: shape, document: copy }, () => collection.put(document));
    };
    return {
      put,
      putMany: async (documents) => {
        await Promise.all(documents.map(put));
      },
      insert: (document) => collection.insert(document),
      get: (key) => collection.get(key),
      find: (match) => collection.find(match),
      count: () => collection.count(),
      delete: (match) => collection.delete(match),
    };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#puts);
    await this.#sending;
    await this.remote.close();
    await this.#attempt(() => this.spool.close());
  }

  async #put(record: TransferRecord, put: () => Promise<void>): Promise<void> {
    const isKept = this.#isUnavailable && this.#closed === undefined;
    const work = isKept ? this.spool.put(record) : this.#putSafely(record, put());
    this.#puts.add(work);
    try {
      await work;
    } finally {
      this.#puts.delete(work);
    }
  }

  async #putSafely(record: TransferRecord, putting: Promise<void>): Promise<void> {
    const done = new AbortController();
    const waiting = sleep(SAFE_AFTER_MS, true, { signal: done.signal }).catch(() => false);
    const isSlow = await Promise.race([putting.then(() => false).catch(() => false), waiting]);
    done.abort();
    // The spool is needed only for a slow server.
    const spooled = isSlow ? await this.#attempt(() => this.spool.put(record)) : undefined;
    try {
      await putting;
    } catch (thrown) {
      if (!(thrown instanceof PlatformError) || thrown.code !== 'unavailable') throw thrown;
      this.#giveUp(thrown);
      await this.spool.put(record);
      return;
    }
    // If the removal fails, the record is later sent to the server again, which is idempotent.
    if (spooled !== undefined) await this.#attempt(() => this.spool.remove(spooled));
  }

  async #attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (thrown) {
      if (!this.#hasWarnedOfSpool) {
        this.options.warn(
          `${messageOf(thrown)} If the server becomes unavailable, results cannot be kept on this machine.`,
        );
      }
      this.#hasWarnedOfSpool = true;
      return undefined;
    }
  }

  #giveUp(reason: PlatformError): void {
    if (this.#isUnavailable) return;
    this.#isUnavailable = true;
    if (!this.#areWaiting) this.options.onSpooled(true);
    this.#areWaiting = true;
    this.options.warn(
      `${messageOf(reason)} From now on results are kept in ${this.spool.folder}, and sent when the server answers ` +
        'again; if this command ends before, send them with "mlmodelscope store sync".',
    );
    this.#sending = this.#sendLater();
  }

  /** Until all is sent, new writes go to the spool as well: an older one never replaces a newer one. */
  async #sendLater(): Promise<void> {
    const { signal } = this.#closing;
    const { sendAgainMs = SEND_AGAIN_MS } = this.options;
    do {
      await sleep(sendAgainMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
    } while (!(await this.#sendAll()));
  }

  /** @returns false while the server is gone */
  async #sendAll(): Promise<boolean> {
    const { warn, onSpooled } = this.options;
    try {
      do {
        await sendSpooled(this.spool, this.remote);
        await Promise.allSettled(this.#puts);
      } while (!(await this.spool.isEmpty()) || this.#puts.size > 0);
      // Before any put that may follow, which would stay in the spool.
      this.#isUnavailable = this.#areWaiting = false;
      onSpooled(false);
      warn(`The database has all results that were kept in ${this.spool.folder}.`);
    } catch (thrown) {
      if (thrown instanceof PlatformError && thrown.code === 'unavailable') return false;
      this.#isUnavailable = false;
      warn(
        `${messageOf(thrown)} Results still wait in ${this.spool.folder}: send them with "mlmodelscope store sync".`,
      );
    }
    return true;
  }
}
