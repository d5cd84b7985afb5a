import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';

const POLL_MS = 5;

/** Far longer than any wait on a slow machine, and less than the time limit of a suite, which cannot say what is awaited. */
export const MAX_WAIT_MS = 180_000;

/** Resolves when the condition is met. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + MAX_WAIT_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) assert.fail(`not met within ${MAX_WAIT_MS} ms: ${String(condition)}`);
    await setTimeout(POLL_MS);
  }
}
