import type { SpanAttributes } from '../../tracing/span.js';
import type { WorkerJob } from './job.js';

/** What identifies the subject of a job in its span; nothing for jobs that open a model or predict. */
export function jobAttributes(job: WorkerJob): SpanAttributes {
  switch (job.kind) {
    case 'measure':
      return { ...(job.name !== undefined && { model_name: job.name }), signature: job.benchmark.signature };
    case 'measure-bricks':
      return { bricks: job.bricks.length, signatures: job.bricks.map(({ signature }) => signature) };
    case 'serve':
      return { model_name: job.name, batch_limit: job.batching.limit, max_wait_ms: job.batching.waitMs };
    case 'trace':
    case 'infer-types':
    case 'optimize':
    case 'run-once':
      return { signature: job.benchmark.signature };
    case 'open':
    case 'predict':
      return {};
  }
}
