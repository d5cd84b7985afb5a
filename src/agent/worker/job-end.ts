import { PlatformError } from '../../base/errors.js';
import type { InferredValue, OptimizedGraph } from '../benchmark-agent.js';
import type { Failure } from '../failure.js';
import type { LayerTrace } from '../layer-trace.js';
import type { JobResult, Measured } from '../jobs/job.js';
import type { Predicted } from '../jobs/predict-session.js';

/** A job that its process did not survive, or was not let finish. */
export interface Died {
  readonly kind: 'died';
  readonly failure: Failure;
  readonly elapsedMs: number;
  /** Of that, before the first run. */
  readonly preparingMs: number;
  readonly peakMemoryBytes: number;
}

export type JobEnd = JobResult | Died;

/** Whether the process that ended a job like this may be left in any state. */
export function isFailure(end: JobEnd): boolean {
  if (end.kind === 'measured') return end.measured.outcome.kind === 'failure';
  return end.kind === 'died' || end.kind === 'rejected';
}

/** What to throw where a job had to succeed. */
export function errorOfEnd(end: JobEnd): PlatformError {
  switch (end.kind) {
    case 'died':
      return new PlatformError(end.failure.reason === 'timeout' ? 'timeout' : 'unsupported', end.failure.message);
    case 'rejected':
      return new PlatformError(end.code, end.message);
    default:
      return new PlatformError('internal', `the measuring process answered with ${end.kind}`);
  }
}

/**
 * A process that died is a measurement like any other.
 *
 * @throws PlatformError where the request was wrong
 */
export function measuredOf(end: JobEnd): Measured {
  if (end.kind === 'measured') return end.measured;
  if (end.kind !== 'died') throw errorOfEnd(end);
  const { failure, elapsedMs, preparingMs, peakMemoryBytes } = end;
  return { outcome: { kind: 'failure', ...failure }, costMs: elapsedMs, sessionMs: preparingMs, peakMemoryBytes };
}

/** @throws PlatformError where nothing was traced */
export function tracedOf(end: JobEnd): LayerTrace {
  if (end.kind === 'traced') return end.trace;
  throw errorOfEnd(end);
}

/** @throws PlatformError where nothing was inferred */
export function inferredOf(end: JobEnd): ReadonlyMap<string, InferredValue> {
  if (end.kind === 'inferred') return end.values;
  throw errorOfEnd(end);
}

/** @throws PlatformError where nothing was predicted */
export function predictedOf(end: JobEnd): Predicted {
  if (end.kind === 'predicted') return end.predicted;
  throw errorOfEnd(end);
}

/** @throws PlatformError where nothing was optimized */
export function optimizedOf(end: JobEnd): OptimizedGraph {
  if (end.kind === 'optimized') return end.optimized;
  throw errorOfEnd(end);
}
