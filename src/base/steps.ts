import { setImmediate } from 'node:timers/promises';
import { throwIfCancelled } from './cancellation.js';

/** Work that other work may interrupt wherever it yields. */
export type Steps<Result> = Generator<void, Result, void>;

/** Longer, and a person notices that nothing answers. */
const TURN_MS = 20;

export function runAtOnce<Result>(steps: Steps<Result>): Result {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** Lets other work run between steps. @throws PlatformError `cancelled` */
export async function runInTurns<Result>(steps: Steps<Result>, signal?: AbortSignal): Promise<Result> {
  let startMs = performance.now();
  let step = steps.next();
  while (step.done !== true) {
    if (performance.now() - startMs > TURN_MS) {
      await setImmediate();
      startMs = performance.now();
    }
    throwIfCancelled(signal);
    step = steps.next();
  }
  return step.value;
}
