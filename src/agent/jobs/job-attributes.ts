import type { SpanAttributes } from '../../tracing/span.js';
import type { WorkerJob } from './job.js';

/**
 * The subject of a job, as attributes of its span: the name of a model that is measured whole, else the signatures
 * of bricks.
 */
export function jobAttributes(job: WorkerJob): SpanAttributes {
  switch (job.kind) {
    case 'measure':
      return job.name === undefined
        ? { signature: job.benchmark.signature }
        : { model_name: job.name, signature: job.benchmark.signature };
    case 'measure-bricks':
      return { bricks: job.bricks.length, signatures: job.bricks.map(({ signature }) => signature) };
    case 'trace':
    case 'infer-types':
    case 'optimize':
      return { signature: job.benchmark.signature };
    case 'open':
    case 'predict':
      return {};
  }
}
