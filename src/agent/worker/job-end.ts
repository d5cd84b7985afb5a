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
  if (end.kind === 'measured') return end.measured.some(({ outcome }) => outcome.kind === 'failure');
  // A wrong request is refused before the runtime gets any of it.
  if (end.kind === 'rejected') return end.code !== 'usage';
  return end.kind === 'died';
}

export function ranOutOfMemory(end: JobEnd): boolean {
  const measured = end.kind === 'measured' ? end.measured : [];
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

/** A process that died gives failures as outcomes, with equal shares of the cost. @throws PlatformError otherwise */
export function buildMeasured(end: JobEnd, benchmarks: number): readonly Measured[] {
  if (end.kind !== 'died') return endedAs(end, 'measured').measured;
  const { failure, elapsedMs, preparingMs, peakMemoryBytes } = end;
  const cost = { costMs: elapsedMs / benchmarks, sessionMs: preparingMs / benchmarks };
  const death: Measured = { outcome: { kind: 'failure', ...failure }, ...cost, peakMemoryBytes };
  return new Array<Measured>(benchmarks).fill(death);
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
