import { existsSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PlatformError } from '../../base/errors.js';
import { readOnlyStore } from '../read-only-store.js';
import { warnThroughNode, type ResultStore, type StoreOptions } from '../result-store.js';
import { storageError } from '../storage-error.js';
import { DATA_FILE } from './folder.js';
import { networkWarning } from './network-file-system.js';
import { EmbeddedResultStore } from './result-store.js';
import { acquireEnvironment } from './shared-environment.js';
import { isWritable, copySnapshot } from './snapshot.js';

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
