import type { EvaluationEvent } from './event.js';

/**
 * For work that tells what happens by a callback: gives the events as they come, and in the end what the work returns.
 * While the reader does not ask for events, new `measuring` events replace older ones.
 */
export async function* whileTelling<T>(
  work: (tell: (event: EvaluationEvent) => void) => Promise<T>,
): AsyncGenerator<EvaluationEvent, T, undefined> {
  let told: EvaluationEvent[] = [];
  let hasEnded = false;
  let wake = (): void => {};
  const result = work((event) => {
    if (event.kind === 'measuring' && told.at(-1)?.kind === 'measuring') told.pop();
    told.push(event);
    wake();
  }).finally(() => {
    hasEnded = true;
    wake();
  });
  // The caller that takes the result gets its errors as well.
  result.catch(() => undefined);
  for (;;) {
    const events = told;
    told = [];
    yield* events;
    if (told.length > 0) continue;
    if (hasEnded) return await result;
    await new Promise<void>((resolve) => (wake = resolve));
  }
}
