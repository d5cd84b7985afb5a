import { PlatformError } from '../base/errors.js';

/** Without zod, which takes 60 ms to load, in each worker process; everything else there takes 170 ms. */
export function packageVersion(name: string, manifest: unknown): string {
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) {
    if (typeof manifest.version === 'string') return manifest.version;
  }
  throw new PlatformError('internal', `${name}: its package.json has no version; install it again`);
}
