import { throwIfCancelled } from '../base/cancellation.js';
import type { Clock } from '../base/clock.js';
import type { Leases } from '../store/leases/leases.js';

const PAUSE_MS = 500;

/**
 * Does work for an item when no other agent works on it: a queue may deliver an item twice.
 *
 * @throws PlatformError `cancelled` if the signal aborts before, and as the store and the work do
 */
export async function withItemLock(
  item: string,
  { leases, clock, signal }: { leases: Leases; clock: Clock; signal: AbortSignal },
  work: () => Promise<void>,
): Promise<void> {
  const name = `item ${item}`;
  for (;;) {
    throwIfCancelled(signal);
    const others = await leases.take([name]);
    if (others.size === 0) break;
    await clock.sleep(PAUSE_MS, signal);
  }
  try {
    await work();
  } finally {
    await leases.release(name);
  }
}
