import { PlatformError } from '../base/errors.js';

/** Without the store's server there are no leases; this machine continues, and keeps its measurements. */
export async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'unavailable') return undefined;
    throw error;
  }
}
