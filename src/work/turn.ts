import { throwIfCancelled } from '../base/cancellation.js';
import type { Clock } from '../base/clock.js';
import type { Leases } from '../store/leases/leases.js';

/** Time between two tries. */
const PAUSE_MS = 500;

/** The right to measure: of all agents on a machine one measures at a time, and one agent measures an item. */
export class Turn {
  readonly #machine: string;

  /** @param host the machine's name */
  constructor(
    private readonly leases: Leases,
    host: string,
    private readonly clock: Clock,
  ) {
    this.#machine = `machine ${host}`;
  }

  /**
   * Does work for an item when nobody else works on it or on this machine.
   *
   * @throws PlatformError `cancelled` where the signal aborts before, and as the store and the work do
   */
  async take(item: string, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const names = [this.#machine, `item ${item}`];
    const release = async (): Promise<void> => {
      for (const name of names) await this.leases.release(name);
    };
    for (;;) {
      throwIfCancelled(signal);
      const others = await this.leases.take(names);
      if (others.size === 0) break;
      // Not one of both: two who wait for each other would wait for ever.
      await release();
      await this.clock.sleep(PAUSE_MS, signal);
    }
    try {
      await work();
    } finally {
      await release();
    }
  }
}
