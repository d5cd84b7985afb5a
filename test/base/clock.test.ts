import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Clock, monotonicClock } from '../../src/base/clock.js';
import { FakeClock } from './fake-clock.js';

interface RunningClock {
  readonly clock: Clock;
  /** Lets this much time pass. */
  readonly pass: (ms: number) => Promise<void>;
}

const CLOCKS: Readonly<Record<string, () => RunningClock>> = {
  'the monotonic clock': () => ({ clock: monotonicClock, pass: () => Promise.resolve() }),
  "the tests' clock": () => {
    const clock = new FakeClock();
    return { clock, pass: (ms) => clock.advance(ms) };
  },
};

for (const [name, make] of Object.entries(CLOCKS)) {
  describe(name, { timeout: 60_000 }, () => {
    it('has advanced by the time of a sleep when the sleep ends', async () => {
      const { clock, pass } = make();
      const before = clock.now();
      const slept = clock.sleep(20);
      await pass(20);
      await slept;
      // A timer of Node may fire a millisecond early.
      assert(clock.now() - before >= 19);
    });

    it('ends a sleep when its signal aborts, and does not begin a sleep with an aborted signal', async () => {
      const { clock } = make();
      const controller = new AbortController();
      const slept = clock.sleep(3_600_000, controller.signal);
      controller.abort();
      await slept;
      await clock.sleep(3_600_000, controller.signal);
    });
  });
}
