import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { open, type Database, type RootDatabase } from 'lmdb';
import type { PlatformError } from '../../errors.js';
import { openDataFile, readExtent } from './data-file.js';
import { DATA_FILE } from './folder.js';
import { requireFormat, requireOwnTables } from './format.js';
import { lmdbError } from './lmdb-error.js';
import { reserveSpace } from './space.js';

export type TableName = 'systems' | 'measurements';

export interface Entry {
  readonly table: TableName;
  readonly key: string;
  readonly value: string;
}

interface QueuedWrite {
  readonly entries: readonly Entry[];
  readonly onSlow: () => void;
  readonly resolve: () => void;
  readonly reject: (error: PlatformError) => void;
}

/** Those of this file and the format's. */
const TABLES = 3;

/** Address space that the file is mapped into; it grows beyond when it must. Costs neither memory nor disk. */
const MAP_BYTES = 4 * 1024 ** 3;

/** Most of what one transaction writes; together with PAGES_PER_ENTRY this bounds by how much the file grows at once. */
const BATCH_ENTRIES = 256;
const BATCH_BYTES = 32 * 1024 * 1024;

/** Pages for one entry besides its own bytes (copied, split and half-filled ones), and for a transaction besides those. */
const PAGES_PER_ENTRY = 4;
const PAGES_PER_TRANSACTION = 64;

/** A transaction that takes longer waits for another process, which may have been suspended while writing. */
const SLOW_MS = 10_000;

/**
 * An LMDB environment with two tables of texts. Writes that come while another is being written go into one transaction
 * together, which is flushed to the disk before they resolve. Waiting for another process's transaction, writing and
 * flushing happen off this thread.
 */
export class Environment {
  readonly #queue: QueuedWrite[] = [];
  #writing: Promise<void> | undefined;
  #failure: PlatformError | undefined;

  private constructor(
    readonly folder: string,
    private readonly root: RootDatabase<string, string>,
    private readonly tables: Readonly<Record<TableName, Database<string, string>>>,
    private readonly dataFile: number,
  ) {}

  /** `folder` comes from prepareFolder. Throws a PlatformError with code `storage`, or the operating system's error. */
  static async open(folder: string): Promise<Environment> {
    const dataFile = openDataFile(join(folder, DATA_FILE));
    let root: RootDatabase<string, string> | undefined;
    try {
      root = openRoot(folder);
      const tables = [...root.getKeys({ limit: 1000 })];
      requireOwnTables(tables, folder);
      // Not for an existing store: on a full disk it can still be opened and read.
      if (tables.length < TABLES) root.transactionSync(() => reserve(dataFile, folder, []));
      requireFormat(root, folder);
      const systems: Database<string, string> = root.openDB({ name: 'systems', encoding: 'string' });
      const measurements: Database<string, string> = root.openDB({ name: 'measurements', encoding: 'string' });
      return new Environment(folder, root, { systems, measurements }, dataFile);
    } catch (thrown) {
      await root?.close();
      closeSync(dataFile);
      throw thrown;
    }
  }

  get(table: TableName, key: string): string | undefined {
    try {
      return this.tables[table].get(key);
    } catch (thrown) {
      throw lmdbError(this.folder, 'cannot be read', thrown);
    }
  }

  /** All entries of a table in the order of their keys. */
  entries(table: TableName): readonly { readonly key: string; readonly value: string }[] {
    try {
      return [...this.tables[table].getRange()];
    } catch (thrown) {
      throw lmdbError(this.folder, 'cannot be read', thrown);
    }
  }

  /** From now on reads see what other processes have written up to now. */
  refresh(): void {
    this.root.resetReadTxn();
  }

  /** All entries or none; resolves when they are on the disk. `onSlow` is called when that takes suspiciously long. */
  write(entries: readonly Entry[], onSlow: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ entries, onSlow, resolve, reject });
      this.#writing ??= this.#writeQueue();
    });
  }

  /** Waits for writes that are under way. */
  async close(): Promise<void> {
    await this.#writing;
    await this.root.close();
    closeSync(this.dataFile);
  }

  async #writeQueue(): Promise<void> {
    // Whatever else is put in this turn of the event loop belongs into the first transaction.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const batch = this.#nextBatch();
      try {
        await this.#commit(batch);
        for (const write of batch) write.resolve();
      } catch (thrown) {
        const error = lmdbError(this.folder, 'could not be written to', thrown);
        for (const write of batch) write.reject(error);
      }
    }
    this.#writing = undefined;
  }

  #nextBatch(): readonly QueuedWrite[] {
    let entries = 0;
    let bytes = 0;
    let writes = 0;
    for (const write of this.#queue) {
      if (writes > 0 && (entries >= BATCH_ENTRIES || bytes >= BATCH_BYTES)) break;
      writes += 1;
      entries += write.entries.length;
      bytes += bytesOf(write.entries);
    }
    return this.#queue.splice(0, writes);
  }

  async #commit(batch: readonly QueuedWrite[]): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const entries = batch.flatMap((write) => write.entries);
    const slow = setTimeout(() => batch[0]?.onSlow(), SLOW_MS);
    let reserved = false;
    try {
      await this.root.transaction(() => {
        reserve(this.dataFile, this.folder, entries);
        reserved = true;
        for (const { table, key, value } of entries) this.tables[table].putSync(key, value);
      });
    } catch (thrown) {
      const cause = await commitError(thrown);
      // Before, nothing of LMDB's was touched. Afterwards it cannot be trusted to write in this process.
      if (reserved) this.#failure = lmdbError(this.folder, 'could not be written to', cause);
      throw cause;
    } finally {
      clearTimeout(slow);
    }
  }
}

/** `overlappingSync` off: a write resolves only when it is flushed. `eventTurnBatching` on leaves rejections unhandled. */
function openRoot(path: string): RootDatabase<string, string> {
  return open<string, string>({
    path,
    noSubdir: false,
    mapSize: MAP_BYTES,
    overlappingSync: false,
    eventTurnBatching: false,
    encoding: 'string',
  });
}

function reserve(dataFile: number, folder: string, entries: readonly Entry[]): void {
  const { pageBytes, usedBytes } = readExtent(dataFile, join(folder, DATA_FILE));
  const pages = PAGES_PER_TRANSACTION + PAGES_PER_ENTRY * entries.length;
  reserveSpace(dataFile, usedBytes + pages * pageBytes + bytesOf(entries), folder);
}

function bytesOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { key, value }) => sum + key.length + Buffer.byteLength(value), 0);
}

/** The binding puts the reason of a failed commit into a second promise, which has to be handled as well. */
async function commitError(thrown: unknown): Promise<unknown> {
  if (!(thrown instanceof Error && 'commitError' in thrown)) return thrown;
  try {
    await thrown.commitError;
    return thrown;
  } catch (reason) {
    return reason;
  }
}
