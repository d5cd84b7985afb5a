import { activeTracing } from '../../tracing/tracing.js';
import type { PredictOptions } from './options.js';

/** Makes spans down to the level that the client asks for, by default that of its trace. */
export function atLevelOf<T>({ traceLevel }: PredictOptions, work: () => T): T {
  const tracing = traceLevel === 'NO_TRACE' ? undefined : activeTracing();
  return tracing === undefined ? work() : tracing.atLevel(traceLevel, work);
}
