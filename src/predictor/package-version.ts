import { PlatformError } from '../base/errors.js';

/**
 * The version in a package.json that npm installed. Checked without zod, because each worker process loads this file:
 * loading zod takes 60 ms, and loading everything else in such a process takes 170 ms.
 */
export function packageVersion(name: string, manifest: unknown): string {
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) {
    if (typeof manifest.version === 'string') return manifest.version;
  }
  throw new PlatformError('internal', `${name}: its package.json has no version; install it again`);
}
