import type { Exporter } from '../../base/exporters/exporter.js';
import { jaegerProcess, jaegerSpan } from '../jaeger-document.js';
import type { SpanAttributeValue, SpanDocument } from '../span-document.js';
import { groupedBy } from '../../base/grouped-by.js';

function microseconds(nanoseconds: bigint): number {
  return Number((nanoseconds + 500n) / 1000n);
}

function failureAttributes({ status, status_message }: SpanDocument): Readonly<Record<string, SpanAttributeValue>> {
  if (status !== 'error') return {};
  return { error: true, 'otel.status_code': 'ERROR', 'otel.status_description': status_message };
}

function exportSpan(span: SpanDocument, processId: string): object {
  const start = BigInt(span.start_unix_nano);
  const written = jaegerSpan({
    traceId: span.trace_id,
    spanId: span.span_id,
    parentSpanId: span.parent_span_id,
    name: span.name,
    startMicros: microseconds(start),
    durationMicros: microseconds(BigInt(span.end_unix_nano) - start),
    attributes: { ...span.attributes, 'span.kind': span.kind, ...failureAttributes(span) },
    processId,
  });
  return { ...written, warnings: null };
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
      return [id, jaegerProcess(String(name), rest)];
    });
    return { traceID, spans: written, processes: Object.fromEntries(described) as object, warnings: null };
  });
  return `${JSON.stringify({ data, total: data.length, limit: 0, offset: 0, errors: null })}\n`;
};
