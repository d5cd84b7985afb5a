import { statfsSync } from 'node:fs';
import { basename, join } from 'node:path';

/** The folder where Linux keeps files in memory. Source: POSIX shared memory, shm_overview(7). */
const MEMORY_FILE_SYSTEM = '/dev/shm';

/** Memory left free for other users of the folder. */
const SPARE_BYTES = 64 * 2 ** 20;

/** The folder in memory that belongs to a temporary folder. It has the same name, and need not exist. */
export function inMemory(temporaryFolder: string): string {
  return join(MEMORY_FILE_SYSTEM, basename(temporaryFolder));
}

/**
 * Whether files of this size fit into the folder in memory, and into the free memory. A runtime maps such a file as it
 * is. Weights in the model itself are parsed and copied several times, and a file on a disk is written back while other
 * processes measure.
 */
export function fitsInMemory(bytes: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const { bavail, bsize } = statfsSync(MEMORY_FILE_SYSTEM);
    return Math.min(bavail * bsize, process.availableMemory()) >= bytes + SPARE_BYTES;
  } catch {
    return false;
  }
}
