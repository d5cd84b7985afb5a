import type { Lifetime } from '../../test/support/lifetime.js';

/** Does work, then runs its clean-ups, the newest first, so that processes end before their store does. */
export async function forLifetime<T>(work: (lifetime: Lifetime) => Promise<T>): Promise<T> {
  const undo: (() => unknown)[] = [];
  try {
    return await work({ after: (one) => undo.unshift(one) });
  } finally {
    for (const one of undo.splice(0)) await one();
  }
}
