import { setTimeout } from 'node:timers/promises';

const POLL_MS = 5;

/** Resolves when the condition is met. If it is never met, the time limit of the test ends the wait. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await setTimeout(POLL_MS);
}
