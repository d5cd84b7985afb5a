import type { EvaluationEvent } from '../../src/evaluation/event.js';
import type { Evaluation, EvaluationContext, EvaluationRequest } from '../../src/evaluation/evaluation.js';
import { z } from 'zod';

type Run = (request: EvaluationRequest, context: EvaluationContext) => AsyncIterable<EvaluationEvent>;

/** A plugin whose evaluation is the given function. */
export function scripted(run: Run, settings: z.ZodType = z.strictObject({})): Evaluation {
  return { name: 'fake', version: '1.2.3', settings, run };
}

export const DONE = { kind: 'done', result: { answer: 42 }, partial: false } as const;

/** A plugin that is done at once. */
export const obedient = scripted(async function* () {
  yield await Promise.resolve(DONE);
});

/** Waits until it is asked to stop. */
export function untilStopped({ signal }: EvaluationContext): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** A plugin that works until it is asked to stop. */
export const patient = scripted(async function* (_request, context) {
  yield { kind: 'note', level: 'info', message: 'at work' };
  await untilStopped(context);
});
