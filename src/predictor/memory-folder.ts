import { statfsSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Source: POSIX shared memory, shm_overview(7). */
const MEMORY_FILE_SYSTEM = '/dev/shm';

const SPARE_BYTES = 64 * 2 ** 20;

/** It has the temporary folder's name, and need not exist. */
export function inMemory(temporaryFolder: string): string {
  return join(MEMORY_FILE_SYSTEM, basename(temporaryFolder));
}

/**
 * A runtime maps files in memory as they are. Weights in the model itself are parsed and copied several times, and a
 * file on a disk is written back while other processes measure.
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
