import { type Attributes, type HrTime, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { resources, type tracing as sdk } from '@opentelemetry/sdk-node';
import { SPAN_KINDS, type SpanDocument } from '../span-document.js';
import { toHrTime } from './hr-time.js';

const STATUSES = {
  unset: SpanStatusCode.UNSET,
  ok: SpanStatusCode.OK,
  error: SpanStatusCode.ERROR,
} as const satisfies Record<SpanDocument['status'], SpanStatusCode>;

/** The SDK's types allow only lists of one type, but a list keeps its elements here. */
function convertAttributes(attributes: SpanDocument['attributes']): Attributes {
  return attributes as Attributes;
}

export function toReadableSpan(span: SpanDocument): sdk.ReadableSpan {
  const { trace_id: traceId, span_id: spanId, parent_span_id: parentSpanId, status_message: message } = span;
  const start = BigInt(span.start_unix_nano);
  const end = BigInt(span.end_unix_nano);
  const contextOf = (id: string) => ({ traceId, spanId: id, traceFlags: TraceFlags.SAMPLED });
  const duration: HrTime = toHrTime(end - start);
  return {
    name: span.name,
    kind: SPAN_KINDS.indexOf(span.kind),
    spanContext: () => contextOf(spanId),
    ...(parentSpanId === '' ? {} : { parentSpanContext: contextOf(parentSpanId) }),
    startTime: toHrTime(start),
    endTime: toHrTime(end),
    duration,
    status: { code: STATUSES[span.status], message },
    attributes: convertAttributes(span.attributes),
    links: [],
    events: [],
    ended: true,
    resource: resources.resourceFromAttributes(convertAttributes(span.resource)),
    instrumentationScope: { name: 'mlmodelscope' },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}
