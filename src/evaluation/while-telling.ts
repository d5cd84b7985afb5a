import type { EvaluationEvent } from './event.js';

/**
 * While the reader asks for no event, a `measuring` event replaces one directly before it. Returns the work's result.
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
  // The result is awaited below, and its errors are thrown there.
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
