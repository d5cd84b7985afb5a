import type { AttributeValue, HrTime } from '@opentelemetry/api';
import type { tracing as sdk } from '@opentelemetry/sdk-node';
import { SPAN_KINDS, SPAN_STATUSES, type SpanAttributeValue, type SpanDocument } from '../span-document.js';

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
