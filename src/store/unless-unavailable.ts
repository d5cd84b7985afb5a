import { PlatformError } from '../base/errors.js';

/** Undefined where the store's server is gone: this machine then continues, and keeps new documents itself. */
export async function unlessUnavailable<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'unavailable') return undefined;
    throw error;
  }
}
