import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../../src/base/clock.js';

const SPEED = 20;

/** Twenty times as fast as others. */
export const fast: Clock = {
  now: () => performance.now() * SPEED,
  sleep: (ms, signal) => setTimeout(ms / SPEED, undefined, { signal }).catch(() => undefined),
};

/** The clock of a process that is suspended, or killed: nothing that it waits for comes. */
export function suspendable(): { readonly clock: Clock; readonly suspend: () => void; readonly wake: () => void } {
  let wake = (): void => {};
  let awake = Promise.resolve();
  const suspend = (): void => {
    awake = new Promise((resolve) => (wake = resolve));
  };
  return {
    clock: {
      now: fast.now,
      sleep: async (ms, signal) => {
        await fast.sleep(ms, signal);
        await awake;
      },
    },
    suspend,
    wake: () => wake(),
  };
}
