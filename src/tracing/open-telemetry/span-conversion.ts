import { type Attributes, type AttributeValue, type HrTime, TraceFlags } from '@opentelemetry/api';
import { resources, type tracing as sdk } from '@opentelemetry/sdk-node';
import { SPAN_KINDS, SPAN_STATUSES, type SpanAttributeValue, type SpanDocument } from '../span-document.js';

export function toHrTime(unixNano: bigint): HrTime {
  return [Number(unixNano / 1_000_000_000n), Number(unixNano % 1_000_000_000n)];
}

function formatUnixNano([seconds, nanoseconds]: HrTime): string {
  return `${BigInt(seconds) * 1_000_000_000n + BigInt(nanoseconds)}`;
}

function convertAttributes(
  attributes: Readonly<Record<string, AttributeValue | undefined>>,
): Record<string, SpanAttributeValue> {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([key, value]): [string, SpanAttributeValue][] => {
      if (value === undefined) return [];
      return [[key, Array.isArray(value) ? value.filter((item) => item !== null && item !== undefined) : value]];
    }),
  );
}

export function toSpanDocument(span: sdk.ReadableSpan): SpanDocument {
  const { traceId, spanId } = span.spanContext();
  return {
    trace_id: traceId,
    span_id: spanId,
    parent_span_id: span.parentSpanContext?.spanId ?? '',
    name: span.name,
    kind: SPAN_KINDS[span.kind] ?? 'internal',
    start_unix_nano: formatUnixNano(span.startTime),
    end_unix_nano: formatUnixNano(span.endTime),
    attributes: convertAttributes(span.attributes),
    status: SPAN_STATUSES[span.status.code] ?? 'unset',
    status_message: span.status.message ?? '',
    resource: convertAttributes(span.resource.attributes),
  };
}

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
