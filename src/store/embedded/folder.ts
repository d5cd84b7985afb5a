import { accessSync, constants, readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PlatformError } from '../../base/errors.js';
import { makeFolder, OWNER_ONLY } from '../../base/make-folder.js';
import { requireFreeSpace } from './space.js';

export const DATA_FILE = 'data.mdb';
export const STORE_LOCK_FILE = 'lock.mdb';

/**
 * Creates a store's folder, or checks it, before LMDB opens it: the binding crashes where an access is refused.
 * @returns its real path @throws PlatformError `storage`, or the operating system's error
 */
export function prepareFolder(folder: string): string {
  makeFolder(folder, OWNER_ONLY);
  const path = realpathSync(folder);
  accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  requireStoreFolder(path);
  requireLockFile(path);
  return path;
}

/** A wrong --store must not write files into an unrelated folder. */
function requireStoreFolder(folder: string): void {
  const names = readdirSync(folder);
  if (names.includes(DATA_FILE) || names.every((name) => name === STORE_LOCK_FILE)) return;
  throw new PlatformError(
    'storage',
    `${folder} is not a store: it holds other files. Name a folder that is new or empty, or that of an existing store.`,
  );
}

/** LMDB maps its lock file into memory, where a full disk causes a crash instead of an error. */
function requireLockFile(folder: string): void {
  const path = join(folder, STORE_LOCK_FILE);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat !== undefined) accessSync(path, constants.R_OK | constants.W_OK);
  if (stat?.isFile() === false) throw new PlatformError('storage', `${path} is no file; remove it, and try again.`);
  if (stat === undefined || stat.blocks === 0) requireFreeSpace(folder);
}
