import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';

/** The first pause between two looks. Later ones are a tenth of the wait: looking takes time that others need. */
const POLL_MS = 5;
const MAX_POLL_MS = 50;

/** Far longer than any wait on a slow machine, and less than the time limit of a suite, which cannot say what is awaited. */
export const MAX_WAIT_MS = 180_000;

/** Resolves when the condition is met. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const startMs = performance.now();
  while (!(await condition())) {
    const waitedMs = performance.now() - startMs;
    if (waitedMs > MAX_WAIT_MS) assert.fail(`not met within ${MAX_WAIT_MS} ms: ${String(condition)}`);
    await setTimeout(Math.min(MAX_POLL_MS, Math.max(POLL_MS, waitedMs / 10)));
  }
}
