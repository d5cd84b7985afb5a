import { join } from 'node:path';
import { defaultCacheDir } from '../zoo/cache-folder.js';

export function machineFolder(): string {
  return join(defaultCacheDir(), 'machine');
}
