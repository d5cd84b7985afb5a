import { PlatformError } from '../../base/errors.js';
import type { OptimizedGraph } from '../benchmark-agent.js';
import type { Failure } from '../failure.js';
import type { JobResult, Measured } from '../jobs/job.js';

export interface Died {
  readonly kind: 'died';
  readonly failure: Failure;
  readonly elapsedMs: number;
  readonly preparingMs: number;
  readonly peakMemoryBytes: number;
}

export type JobEnd = JobResult | Died;

/** Whether the process may be in an unknown state after a job that ended in this way. */
export function isFailure(end: JobEnd): boolean {
  if (end.kind === 'measured') return end.measured.outcome.kind === 'failure';
  if (end.kind === 'measured-bricks') return end.measured.some(({ outcome }) => outcome.kind === 'failure');
  // A wrong request is refused before the runtime gets any of it.
  if (end.kind === 'rejected') return end.code !== 'usage';
  return end.kind === 'died';
}

/** Whether the runtime found no memory for a measurement. */
export function ranOutOfMemory(end: JobEnd): boolean {
  const measured = end.kind === 'measured' ? [end.measured] : end.kind === 'measured-bricks' ? end.measured : [];
  return measured.some(({ outcome }) => outcome.kind === 'failure' && outcome.reason === 'out_of_memory');
}

export function errorOfEnd(end: JobEnd): PlatformError {
  switch (end.kind) {
    case 'died':
      return new PlatformError(end.failure.reason === 'timeout' ? 'timeout' : 'unsupported', end.failure.message);
    case 'rejected':
      return new PlatformError(end.code, end.message);
    default:
      return new PlatformError('internal', `the worker process answered with ${end.kind}`);
  }
}

/**
 * If the process died, the outcome of the measurement is a failure. @throws PlatformError where the request was wrong
 */
export function measuredOf(end: JobEnd): Measured {
  if (end.kind === 'measured') return end.measured;
  if (end.kind === 'died') return deathOf(end, 1);
  throw errorOfEnd(end);
}

/** The same for bricks that are measured together: each has an equal share of the cost. */
export function measuredBricksOf(end: JobEnd, bricks: number): readonly Measured[] {
  if (end.kind === 'measured-bricks') return end.measured;
  if (end.kind === 'died') return new Array<Measured>(bricks).fill(deathOf(end, bricks));
  throw errorOfEnd(end);
}

function deathOf({ failure, elapsedMs, preparingMs, peakMemoryBytes }: Died, bricks: number): Measured {
  const cost = { costMs: elapsedMs / bricks, sessionMs: preparingMs / bricks };
  return { outcome: { kind: 'failure', ...failure }, ...cost, peakMemoryBytes };
}

/** The result of a job. @throws PlatformError where it ended otherwise */
export function endedAs<Kind extends JobResult['kind']>(end: JobEnd, kind: Kind): Extract<JobResult, { kind: Kind }> {
  if (end.kind === kind) return end as Extract<JobResult, { kind: Kind }>;
  throw errorOfEnd(end);
}

/**
 * @param shareMs its share of the wall time. It costs no more than its time of the processor: the cost is kept with the
 *   graph, and must not contain that the machine was busy.
 */
export function optimizedGraph(end: JobEnd, shareMs: number): OptimizedGraph {
  const { optimized, processorMs } = endedAs(end, 'optimized');
  return { ...optimized, costMs: Math.min(shareMs, processorMs) };
}
