import assert from 'node:assert/strict';
import type { PerformanceDocument } from '../../../src/platform-documents/documents.js';
import type { JaegerDocument, JaegerSpan } from '../../../src/tracing/jaeger-document.js';
import { snappyDecompress } from './snappy-decompress.js';

export function embeddedSpans(performance: PerformanceDocument | undefined): readonly JaegerSpan[] {
  const trace = performance?.trace;
  assert(typeof trace === 'string');
  const { data } = JSON.parse(snappyDecompress(Buffer.from(trace, 'base64')).toString()) as JaegerDocument;
  return data.flatMap(({ spans }) => spans);
}

export function tagOf({ tags }: JaegerSpan, name: string): unknown {
  return tags.find(({ key }) => key === name)?.value;
}
