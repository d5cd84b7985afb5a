import { fstatSync, statfsSync, writeSync } from 'node:fs';
import { PlatformError } from '../../base/errors.js';

const GROWTH_BYTES = 1024 * 1024;

/** Space left free on the disk, for copy-on-write file systems: there, overwriting a part of a file takes new space. */
const FREE_BYTES = 4 * GROWTH_BYTES;

const ZEROS = Buffer.alloc(GROWTH_BYTES);

/**
 * Makes a data file at least `bytes` long with real blocks, so that a full disk, a quota or a limit shows here: when a
 * write of LMDB's own fails, the binding overwrites foreign memory (its message exceeds the 100 bytes it allocates).
 * Call it only while holding LMDB's write lock: another process may be writing beyond the end that is seen here.
 */
export function reserveSpace(file: number, bytes: number, folder: string): void {
  const { size, nlink } = fstatSync(file);
  if (nlink === 0) {
    throw new PlatformError(
      'storage',
      `The store ${folder} was deleted while it was in use; nothing more can be stored. Run the same command again.`,
    );
  }
  if (size >= bytes) return;
  requireFreeSpace(folder);
  for (let end = size; end < bytes;) end += writeSync(file, ZEROS, 0, ZEROS.length, end);
}

export function requireFreeSpace(folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const freeBytes = bavail * bsize;
  if (freeBytes >= FREE_BYTES) return;
  throw new PlatformError(
    'storage',
    `The store ${folder} cannot grow: its disk has ${Math.floor(freeBytes / 1024)} KiB left and ` +
      `${FREE_BYTES / 1024} KiB are needed. Free some space and run the same command again, it continues where it stopped.`,
  );
}
