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

export function isFailure(end: JobEnd): boolean {
  if (end.kind === 'measured') return end.measured.outcome.kind === 'failure';
  if (end.kind === 'measured-bricks') return end.measured.some(({ outcome }) => outcome.kind === 'failure');
  // A wrong request is refused before the runtime gets any of it.
  if (end.kind === 'rejected') return end.code !== 'usage';
  return end.kind === 'died';
}

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

/** A process that died gives a failure as the outcome. @throws PlatformError where the request was wrong */
export function buildMeasured(end: JobEnd): Measured {
  if (end.kind === 'measured') return end.measured;
  if (end.kind === 'died') return buildDeath(end, 1);
  throw errorOfEnd(end);
}

/** The same for bricks that are measured together: each has an equal share of the cost. */
export function buildMeasuredBricks(end: JobEnd, bricks: number): readonly Measured[] {
  if (end.kind === 'measured-bricks') return end.measured;
  if (end.kind === 'died') return new Array<Measured>(bricks).fill(buildDeath(end, bricks));
  throw errorOfEnd(end);
}

function buildDeath({ failure, elapsedMs, preparingMs, peakMemoryBytes }: Died, bricks: number): Measured {
  const cost = { costMs: elapsedMs / bricks, sessionMs: preparingMs / bricks };
  return { outcome: { kind: 'failure', ...failure }, ...cost, peakMemoryBytes };
}

/** @throws PlatformError where the job ended otherwise */
export function endedAs<Kind extends JobResult['kind']>(end: JobEnd, kind: Kind): Extract<JobResult, { kind: Kind }> {
  if (end.kind === kind) return end as Extract<JobResult, { kind: Kind }>;
  throw errorOfEnd(end);
}

/** @param shareMs of the wall time. The cost is at most the processor's time: being busy is not kept with the graph */
export function optimizedGraph(end: JobEnd, shareMs: number): OptimizedGraph {
  const { optimized, processorMs } = endedAs(end, 'optimized');
  return { ...optimized, costMs: Math.min(shareMs, processorMs) };
}
