import { activeTracing } from '../tracing/tracing.js';
import type { Progress } from './plugin.js';

/** The models and batch sizes of an evaluation. */
export interface EvaluatedInTrace {
  readonly models: readonly { readonly name: string }[];
  /** One, or those of a sweep. */
  readonly batchSizes: readonly number[];
}

/** The framework that runs it. */
export interface FrameworkInTrace {
  readonly framework: string;
  readonly frameworkVersion: string;
}

/** Names models and batch sizes on the current span, in the platform's words. */
export function nameEvaluated({ models, batchSizes }: EvaluatedInTrace): void {
  const names = [...new Set(models.map(({ name }) => name))];
  const [batchSize, ...others] = new Set(batchSizes);
  activeTracing()?.setAttributes({
    model_name: names.join(', '),
    ...(batchSize === undefined
      ? {}
      : { batch_size: others.length === 0 ? batchSize : [batchSize, ...others].join(', ') }),
  });
}

/** Names the framework on the current span. */
export function nameFramework({ framework, frameworkVersion }: FrameworkInTrace): void {
  activeTracing()?.setAttributes({ framework_name: framework, framework_version: frameworkVersion });
}

/** Prints the id of the current trace, where there is one. */
export function noteTrace(progress: Progress): void {
  const traceId = activeTracing()?.traceId();
  if (traceId !== undefined) progress.note(`trace ${traceId}`);
}
