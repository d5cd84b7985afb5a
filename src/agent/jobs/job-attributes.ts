import type { SpanAttributes } from '../../tracing/span.js';
import type { WorkerJob } from './job.js';

/** What identifies the subject of a job in its span; nothing for jobs that open a model or predict. */
export function jobAttributes(job: WorkerJob): SpanAttributes {
  if (job.kind === 'measure-bricks') {
    return { bricks: job.bricks.length, signatures: job.bricks.map(({ signature }) => signature) };
  }
  if (job.kind === 'serve') {
    return { model_name: job.name, batch_limit: job.batching.limit, max_wait_ms: job.batching.waitMs };
  }
  if (!('benchmark' in job)) return {};
  const name = job.kind === 'measure' && job.name !== undefined && { model_name: job.name };
  return { ...name, signature: job.benchmark.signature };
}
