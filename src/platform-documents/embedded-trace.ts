import { jaeger } from '../tracing/exporters/jaeger.js';
import type { SpanDocument } from '../tracing/span-document.js';
import { snappyCompress } from './snappy.js';

/** Jaeger's JSON, compressed by Snappy, in base64. Source: c3sr/evaluation, performance.go, `CompressTrace`. */
export function embeddedTrace(spans: readonly SpanDocument[]): string {
  return snappyCompress(Buffer.from(jaeger(spans))).toString('base64');
}
