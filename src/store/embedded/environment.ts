import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { open, type Database, type RootDatabase } from 'lmdb';
import { codeOf, messageOf, PlatformError } from '../../base/errors.js';
import { WriteQueue } from '../write-queue.js';
import { openDataFile, readExtent } from './data-file.js';
import { DATA_FILE, STORE_LOCK_FILE } from './folder.js';
import { reserveSpace } from './space.js';
import { z } from 'zod';
import { newerError, storageError } from '../storage-error.js';
import { readText } from '../stored-text.js';

/** `collections` holds the shapes of the kinds in `documents`; `indexes` holds keys of `documents` by other fields. */
export interface Tables {
  readonly systems: Database<string, string>;
  readonly measurements: Database<string, string>;
  readonly collections: Database<string, string>;
  readonly documents: Database<string, Buffer>;
  readonly indexes: Database<string, Buffer>;
}

export interface Change {
  /** The most entries that it touches, and the most bytes that it writes: space for both is reserved first. */
  readonly entries: number;
  readonly bytes: number;
  /** Synchronous, in a transaction that excludes other processes. Must not throw; an error means nothing is written. */
  apply(tables: Tables): PlatformError | undefined;
}

interface QueuedChange {
  readonly change: Change;
  readonly onSlow: () => void;
}

/** The number of tables: those of {@link Tables}, and the format's. */
const TABLES = 6;

/** Address space that the file is mapped into. It costs neither memory nor disk, and grows when the file needs more. */
const MAP_BYTES = 4 * 1024 ** 3;

/** The most that one transaction writes. Together with PAGES_PER_ENTRY, this limits how much the file grows at once. */
const BATCH_ENTRIES = 256;
const BATCH_BYTES = 32 * 1024 * 1024;

/** Pages for an entry besides its own bytes (copied, split and half-filled pages), and further ones per transaction. */
const PAGES_PER_ENTRY = 4;
const PAGES_PER_TRANSACTION = 64;

/** A transaction that takes longer waits for another process, which may have been suspended while writing. */
const SLOW_MS = 10_000;

/** Changes that come while another is written share one transaction, which another thread flushes to the disk. */
export class Environment {
  readonly #queue = new WriteQueue<QueuedChange>({
    most: { entries: BATCH_ENTRIES, bytes: BATCH_BYTES },
    extentOf: ({ change }) => change,
    write: (batch) => this.#write(batch),
  });
  #failure: PlatformError | undefined;

  private constructor(
    readonly folder: string,
    private readonly root: RootDatabase<string, string>,
    private readonly tables: Tables,
    private readonly dataFile: number,
    private readonly lastTransaction: LastTransaction,
  ) {}

  /** `folder` comes from prepareFolder. Throws a PlatformError with code `storage`, or the operating system's error. */
  static async open(folder: string): Promise<Environment> {
    const dataFile = openDataFile(join(folder, DATA_FILE));
    let root: RootDatabase<string, string> | undefined;
    let last: LastTransaction | undefined;
    try {
      const opened = (root = openRoot(folder));
      last = new LastTransaction(root, dataFile, folder);
      const there = [...root.getKeys({ limit: 1000 })];
      requireOwnTables(there, folder);
      const create = last.transaction.bind(last);
      // Not for an existing store, which can be opened and read on a full disk.
      if (there.length < TABLES) create(() => reserve(dataFile, folder, []));
      create(() => requireFormat(opened, folder));
      return new Environment(
        folder,
        root,
        create(() => openTables(opened)),
        dataFile,
        last,
      );
    } catch (thrown) {
      await root?.close();
      last?.close();
      closeSync(dataFile);
      throw thrown;
    }
  }

  /** Sees all writes of other processes up to now. */
  read<T>(reader: (tables: Tables) => T): T {
    try {
      this.root.resetReadTxn();
      return reader(this.tables);
    } catch (thrown) {
      throw lmdbError(this.folder, 'cannot be read', thrown);
    }
  }

  /** Resolves when the change is on the disk. `onSlow` is called when that takes suspiciously long. */
  write(change: Change, onSlow: () => void): Promise<void> {
    return this.#queue.put({ change, onSlow });
  }

  async close(): Promise<void> {
    await this.#queue.end();
    await this.root.close();
    this.lastTransaction.close();
    closeSync(this.dataFile);
  }

  async #write(batch: readonly QueuedChange[]): Promise<readonly (PlatformError | undefined)[]> {
    try {
      return await this.#commit(batch);
    } catch (thrown) {
      throw lmdbError(this.folder, 'could not be written to', thrown);
    }
  }

  async #commit(batch: readonly QueuedChange[]): Promise<readonly (PlatformError | undefined)[]> {
    if (this.#failure !== undefined) throw this.#failure;
    const changes = batch.map(({ change }) => change);
    const slow = setTimeout(() => batch[0]?.onSlow(), SLOW_MS);
    let reserved = false;
    try {
      for (;;) {
        const written = await this.root.transaction(() => {
          if (this.lastTransaction.hasCorrected()) return undefined;
          reserve(this.dataFile, this.folder, changes);
          reserved = true;
          return changes.map((change) => change.apply(this.tables));
        });
        if (written !== undefined) return written;
      }
    } catch (thrown) {
      const cause = await commitError(thrown);
      // Before the reservation, LMDB has written nothing. After it, a failed LMDB must not write in this process again.
      if (reserved) this.#failure = lmdbError(this.folder, 'could not be written to', cause);
      throw cause;
    } finally {
      clearTimeout(slow);
    }
  }
}

/** Where lock.mdb has the number of the last transaction (liblmdb, mdb.c: MDB_txbody). */
const LAST_TRANSACTION = 8;

/**
 * The number of the last transaction, which LMDB keeps in its lock file. Each process that opens a store sets it to what
 * it has read before, without a lock (mdb_env_open2). If another process has committed meanwhile, the number is too low,
 * and the next commit would undo that one.
 */
class LastTransaction {
  readonly #lockFile: number;

  constructor(
    private readonly root: RootDatabase<string, string>,
    private readonly dataFile: number,
    private readonly folder: string,
  ) {
    this.#lockFile = openSync(join(folder, STORE_LOCK_FILE), 'r+');
  }

  /** Call it first in each transaction that writes. @returns true where the transaction must not write: begin a new one */
  hasCorrected(): boolean {
    const { transaction } = readExtent(this.dataFile, join(this.folder, DATA_FILE));
    const before = BigInt(this.root.getWriteTxnId()) - 1n;
    if (transaction <= before) return false;
    const number = Buffer.alloc(8);
    readSync(this.#lockFile, number, 0, number.length, LAST_TRANSACTION);
    if (number.readBigUInt64LE() > transaction) throw notAStore(this.folder);
    number.writeBigUInt64LE(transaction);
    writeSync(this.#lockFile, number, 0, number.length, LAST_TRANSACTION);
    return true;
  }

  /** A synchronous one, for all that may create a table: the binding creates each without this check. */
  transaction<T>(work: () => T): T {
    for (;;) {
      const done = this.root.transactionSync(() => (this.hasCorrected() ? undefined : { result: work() }));
      if (done !== undefined) return done.result;
    }
  }

  /** Only when the database is closed: this drops all locks of this process on the file. */
  close(): void {
    closeSync(this.#lockFile);
  }
}

function openTables(root: RootDatabase<string, string>): Tables {
  return {
    systems: root.openDB({ name: 'systems', encoding: 'string' }),
    measurements: root.openDB({ name: 'measurements', encoding: 'string' }),
    collections: root.openDB({ name: 'collections', encoding: 'string' }),
    documents: root.openDB({ name: 'documents', encoding: 'string', keyEncoding: 'binary' }),
    indexes: root.openDB({ name: 'indexes', encoding: 'string', keyEncoding: 'binary' }),
  };
}

/** Without `overlappingSync`, writes resolve only after their flush. `eventTurnBatching` loses rejections. */
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

function reserve(dataFile: number, folder: string, changes: readonly Change[]): void {
  const { pageBytes, usedBytes } = readExtent(dataFile, join(folder, DATA_FILE));
  const entries = changes.reduce((sum, change) => sum + change.entries, 0);
  const bytes = changes.reduce((sum, change) => sum + change.bytes, 0);
  const pages = PAGES_PER_TRANSACTION + PAGES_PER_ENTRY * entries;
  reserveSpace(dataFile, usedBytes + pages * pageBytes + bytes, folder);
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

/** Raised with every change that an older version of this program would misread. Data of version 1 is read as it is. */
const SCHEMA_VERSION = 2;

const FORMAT_TABLE = 'format';
const FORMAT_KEY = 'store';

const formatSchema = z.object({ schemaVersion: z.int().min(1) });

function requireOwnTables(tables: readonly string[], folder: string): void {
  if (tables.length > 0 && !tables.includes(FORMAT_TABLE)) throw notAStore(folder);
}

/** Before any other table is touched. @throws PlatformError `storage` for a newer store or another program's data */
function requireFormat(root: RootDatabase<string, string>, folder: string): void {
  const table: Database<string, string> = root.openDB({ name: FORMAT_TABLE, encoding: 'string' });
  const text = table.get(FORMAT_KEY);
  const read = text === undefined ? undefined : readText(text, formatSchema);
  if (read?.ok === false) throw notAStore(folder);
  const version = read?.value.schemaVersion ?? 0;
  if (version > SCHEMA_VERSION) throw newerError(folder, version, SCHEMA_VERSION);
  if (version < SCHEMA_VERSION) table.putSync(FORMAT_KEY, JSON.stringify({ schemaVersion: SCHEMA_VERSION }));
}

function notAStore(folder: string): PlatformError {
  return new PlatformError(
    'storage',
    `${folder} holds an LMDB database of another program. Name a folder that is new or empty, or that of a store.`,
  );
}

/** Remedies for LMDB's own errors, by their numbers (liblmdb, lmdb.h). */
const DAMAGED = 'it is damaged: put back a copy of its folder, or move the folder away and measure again';
const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['-30797', DAMAGED], // MDB_PAGE_NOTFOUND
  ['-30796', DAMAGED], // MDB_CORRUPTED
  ['-30793', DAMAGED], // MDB_INVALID
  ['-30790', 'too many processes read from it at once: end some of them'], // MDB_READERS_FULL
]);

export function lmdbError(folder: string, what: string, thrown: unknown): PlatformError {
  const remedy = REMEDIES.get(codeOf(thrown));
  if (remedy === undefined) return storageError(folder, what, thrown);
  return new PlatformError('storage', `The store ${folder} ${what}: ${remedy} (${messageOf(thrown)}).`, {
    cause: thrown,
  });
}
