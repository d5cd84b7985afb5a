import type { System } from '../measurement/system.js';
import { activeTracing } from '../tracing/tracing.js';
import type { Progress } from './plugin.js';

export interface SpanModels {
  readonly models: readonly { readonly name: string }[];
  readonly batchSizes: readonly number[];
}

export function setSpanModels({ models, batchSizes }: SpanModels): void {
  const names = [...new Set(models.map(({ name }) => name))];
  const [batchSize, ...others] = new Set(batchSizes);
  activeTracing()?.setAttributes({
    model_name: names.join(', '),
    ...(batchSize === undefined
      ? {}
      : { batch_size: others.length === 0 ? batchSize : [batchSize, ...others].join(', ') }),
  });
}

export function setSpanFramework(system: Pick<System, 'framework' | 'frameworkVersion'>): void {
  activeTracing()?.setAttributes({ framework_name: system.framework, framework_version: system.frameworkVersion });
}

export function noteTrace(progress: Progress): void {
  const traceId = activeTracing()?.traceId();
  if (traceId !== undefined) progress.note(`trace ${traceId}`);
}
