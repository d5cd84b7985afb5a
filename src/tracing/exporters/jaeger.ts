import type { Exporter } from '../../base/exporters/exporter.js';
import type { JaegerSpan, JaegerTag } from '../jaeger-document.js';
import type { SpanAttributeValue, SpanDocument } from '../span-document.js';
import { groupedBy } from '../../base/grouped-by.js';

type Attributes = Readonly<Record<string, SpanAttributeValue>>;

function toTag(key: string, value: SpanAttributeValue): JaegerTag {
  if (typeof value === 'string') return { key, type: 'string', value };
  if (typeof value === 'boolean') return { key, type: 'bool', value };
  if (typeof value === 'number') return { key, type: Number.isInteger(value) ? 'int64' : 'float64', value };
  return { key, type: 'string', value: JSON.stringify(value) };
}

function toTags(attributes: Attributes): JaegerTag[] {
  return Object.entries(attributes).map(([key, value]) => toTag(key, value));
}

function microseconds(nanoseconds: bigint): number {
  return Number((nanoseconds + 500n) / 1000n);
}

function failureAttributes({ status, status_message }: SpanDocument): Attributes {
  if (status !== 'error') return {};
  return { error: true, 'otel.status_code': 'ERROR', 'otel.status_description': status_message };
}

function exportSpan(span: SpanDocument, processID: string): JaegerSpan & { readonly warnings: null } {
  const { trace_id: traceID, parent_span_id: parent } = span;
  const start = BigInt(span.start_unix_nano);
  return {
    traceID,
    spanID: span.span_id,
    operationName: span.name,
    references: parent === '' ? [] : [{ refType: 'CHILD_OF', traceID, spanID: parent }],
    startTime: microseconds(start),
    duration: microseconds(BigInt(span.end_unix_nano) - start),
    tags: toTags({ ...span.attributes, 'span.kind': span.kind, ...failureAttributes(span) }),
    logs: [],
    processID,
    warnings: null,
  };
}

export const jaeger: Exporter<readonly SpanDocument[]> = (spans) => {
  const traces = groupedBy(spans, ({ trace_id }) => trace_id);
  const data = [...traces].map(([traceID, own]) => {
    const processes = new Map<string, string>();
    const processOf = ({ resource }: SpanDocument): string => {
      const key = JSON.stringify(resource);
      const id = processes.get(key) ?? `p${processes.size + 1}`;
      processes.set(key, id);
      return id;
    };
    const written = own.map((span) => exportSpan(span, processOf(span)));
    const described = [...processes].map(([key, id]) => {
      const { 'service.name': name = 'unknown_service', ...rest } = JSON.parse(key) as SpanDocument['resource'];
      return [id, { serviceName: String(name), tags: toTags(rest) }];
    });
    return { traceID, spans: written, processes: Object.fromEntries(described) as object, warnings: null };
  });
  return `${JSON.stringify({ data, total: data.length, limit: 0, offset: 0, errors: null })}\n`;
};
