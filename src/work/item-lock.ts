import { throwIfCancelled } from '../base/cancellation.js';
import type { Clock } from '../base/clock.js';
import type { Leases } from '../store/leases/leases.js';

/** Time between two attempts. */
const PAUSE_MS = 500;

/** The right to work on an item. One agent at a time has it, even if a queue delivers the item again. */
export class ItemLock {
  constructor(
    private readonly leases: Leases,
    private readonly clock: Clock,
  ) {}

  /**
   * Does work for an item when no other agent works on it.
   *
   * @throws PlatformError `cancelled` if the signal aborts before, and as the store and the work do
   */
  async run(item: string, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const name = `item ${item}`;
    for (;;) {
      throwIfCancelled(signal);
      const others = await this.leases.take([name]);
      if (others.size === 0) break;
      await this.clock.sleep(PAUSE_MS, signal);
    }
    try {
      await work();
    } finally {
      await this.leases.release(name);
    }
  }
}
