import type { EvaluationEvent } from './event.js';

/**
 * Turns work with a callback for events into a generator of the events that returns the work's result. While the reader
 * asks for no event, new `measuring` events replace older ones.
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
  // The caller that awaits the result gets its errors.
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
