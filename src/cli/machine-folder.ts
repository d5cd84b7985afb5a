import { join } from 'node:path';
import { defaultCacheDir } from '../zoo/cache-folder.js';

/** Keeps what an agent measured of its machine. */
export function machineFolder(): string {
  return join(defaultCacheDir(), 'machine');
}
