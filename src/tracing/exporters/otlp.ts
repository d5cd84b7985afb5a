import type { Exporter } from '../../base/exporters/exporter.js';
import { SPAN_KINDS, SPAN_STATUSES, type SpanAttributeValue, type SpanDocument } from '../span-document.js';
import { groupedBy } from '../../base/grouped-by.js';

// OTLP's JSON: identifiers in hexadecimal, 64-bit numbers as text, enums as numbers. Source: opentelemetry-proto,
// docs/specification.md, "JSON Protobuf Encoding".

function anyValue(value: SpanAttributeValue): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isSafeInteger(value) ? { intValue: `${value}` } : { doubleValue: value };
  return { arrayValue: { values: value.map(anyValue) } };
}

function keyValues(attributes: Readonly<Record<string, SpanAttributeValue>>): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function exportSpan(span: SpanDocument): object {
  return {
    traceId: span.trace_id,
    spanId: span.span_id,
    ...(span.parent_span_id === '' ? {} : { parentSpanId: span.parent_span_id }),
    name: span.name,
    // SPAN_KIND_INTERNAL is 1.
    kind: SPAN_KINDS.indexOf(span.kind) + 1,
    startTimeUnixNano: span.start_unix_nano,
    endTimeUnixNano: span.end_unix_nano,
    attributes: keyValues(span.attributes),
    status: {
      code: SPAN_STATUSES.indexOf(span.status),
      ...(span.status_message === '' ? {} : { message: span.status_message }),
    },
  };
}

export const otlp: Exporter<readonly SpanDocument[]> = (spans) => {
  const resources = groupedBy(spans, ({ resource }) => JSON.stringify(resource));
  const resourceSpans = [...resources.values()].map((own) => ({
    resource: { attributes: keyValues(own[0]?.resource ?? {}) },
    scopeSpans: [{ scope: { name: 'mlmodelscope' }, spans: own.map(exportSpan) }],
  }));
  return `${JSON.stringify({ resourceSpans })}\n`;
};
