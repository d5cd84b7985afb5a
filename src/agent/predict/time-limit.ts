import { PlatformError } from '../../base/errors.js';
import type { ModelInUse } from './open-models.js';

export async function withinTime<T>(
  limitMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(new PlatformError('timeout', `not done within the time limit of ${limitMs / 1000} s`));
  }, limitMs);
  try {
    return await work(AbortSignal.any([signal, controller.signal]));
  } finally {
    clearTimeout(timer);
  }
}

export function withinTimePerBatch(model: ModelInUse, limitMs: number): ModelInUse {
  const predict: ModelInUse['predict'] = (batch, signal) => {
    return withinTime(limitMs, signal, (inTime) => model.predict(batch, inTime));
  };
  return { ...model, predict };
}
