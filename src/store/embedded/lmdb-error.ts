import { codeOf, messageOf, PlatformError } from '../../base/errors.js';
import { storageError } from '../storage-error.js';

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
