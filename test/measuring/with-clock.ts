import type { TestContext } from 'node:test';

/** Replaces the process's clock. The new clock shows `nowMs` of the returned object. */
export function withClock(t: TestContext): { nowMs: number } {
  const time = { nowMs: 10_000 };
  t.mock.method(performance, 'now', () => time.nowMs);
  return time;
}
