import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PlatformError } from '../../base/errors.js';
import { readOnlyStore } from '../read-only-store.js';
import { warnThroughNode, type ResultStore, type StoreOptions } from '../result-store.js';
import { storageError } from '../storage-error.js';
import { readExtent } from './data-file.js';
import { DATA_FILE, STORE_LOCK_FILE } from './folder.js';
import { networkWarning } from './network-file-system.js';
import { EmbeddedResultStore } from './result-store.js';
import { acquireEnvironment } from './shared-environment.js';

export async function openEmbeddedStore(folder: string, options: StoreOptions): Promise<ResultStore> {
  const environment = await acquireEnvironment(folder);
  const warning = networkWarning(environment.folder);
  if (warning !== undefined) (options.onWarning ?? warnThroughNode)(warning);
  return new EmbeddedResultStore(environment, options);
}

/**
 * Opens an existing store to read it. Where this user cannot write to it, a copy is read, and writing is refused.
 * @throws PlatformError `not_found` if there is none, `storage` if it cannot be read
 */
export async function openEmbeddedStoreToRead(folder: string, options: StoreOptions): Promise<ResultStore> {
  if (!existsSync(folder) || !existsSync(join(folder, DATA_FILE))) {
    const remedy = 'check --store and MLMODELSCOPE_STORE; commands that measure or import make a store';
    throw new PlatformError('not_found', `There is no store at ${folder}: ${remedy}.`);
  }
  if (isWritable(folder)) return openEmbeddedStore(folder, options);
  let copy: string;
  try {
    copy = copySnapshot(realpathSync(folder));
  } catch (thrown) {
    throw storageError(folder, 'cannot be read', thrown);
  }
  const remove = (): void => rmSync(copy, { recursive: true, force: true });
  try {
    return readOnlyStore(await openEmbeddedStore(copy, options), folder, remove);
  } catch (thrown) {
    remove();
    throw thrown;
  }
}

/** The most attempts to copy a store. If others write all the time, a copy falls between two writes sooner or later. */
const MAX_COPIES = 20;

/** Whether LMDB can open the store in this folder: it writes its lock file even to read. */
function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    for (const name of [DATA_FILE, STORE_LOCK_FILE]) {
      if (existsSync(join(folder, name))) accessSync(join(folder, name), constants.W_OK);
    }
    return true;
  } catch {
    return false;
  }
}

function readTransaction(path: string): bigint {
  // Not blocking: a pipe may have no writer.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return readExtent(file, path).transaction;
  } finally {
    closeSync(file);
  }
}

/**
 * Copies a store that this user cannot write to into a temporary folder, which the caller removes. LMDB never
 * overwrites its newest transaction's pages, so a copy is complete if that is the same before and after copying.
 * @throws PlatformError `storage` for a damaged store, and for one that is written to without end
 */
function copySnapshot(folder: string): string {
  const path = join(folder, DATA_FILE);
  const copy = mkdtempSync(join(tmpdir(), 'mlmodelscope-store-'));
  try {
    for (let copies = 0; copies < MAX_COPIES; copies += 1) {
      const before = readTransaction(path);
      copyFileSync(path, join(copy, DATA_FILE));
      chmodSync(join(copy, DATA_FILE), 0o600);
      if (readTransaction(path) === before) return copy;
    }
    const problem = `The store ${folder} cannot be read: others write to it all the time`;
    throw new PlatformError('storage', `${problem}. Try again.`);
  } catch (thrown) {
    rmSync(copy, { recursive: true, force: true });
    throw thrown;
  }
}
