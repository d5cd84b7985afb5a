import { type Attributes, TraceFlags } from '@opentelemetry/api';
import { resources, type tracing as sdk } from '@opentelemetry/sdk-node';
import { SPAN_KINDS, SPAN_STATUSES, type SpanDocument } from '../span-document.js';
import { toHrTime } from './hr-time.js';

export function toReadableSpan(span: SpanDocument): sdk.ReadableSpan {
  const { trace_id: traceId, span_id: spanId, parent_span_id: parentSpanId, status_message: message } = span;
  const start = BigInt(span.start_unix_nano);
  const end = BigInt(span.end_unix_nano);
  const contextOf = (id: string) => ({ traceId, spanId: id, traceFlags: TraceFlags.SAMPLED });
  // The SDK's types allow only lists of one type, but a list keeps its elements here.
  const attributes = span.attributes as Attributes;
  return {
    name: span.name,
    kind: SPAN_KINDS.indexOf(span.kind),
    spanContext: () => contextOf(spanId),
    ...(parentSpanId === '' ? {} : { parentSpanContext: contextOf(parentSpanId) }),
    startTime: toHrTime(start),
    endTime: toHrTime(end),
    duration: toHrTime(end - start),
    status: { code: SPAN_STATUSES.indexOf(span.status), message },
    attributes,
    links: [],
    events: [],
    ended: true,
    resource: resources.resourceFromAttributes(span.resource as Attributes),
    instrumentationScope: { name: 'mlmodelscope' },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}
