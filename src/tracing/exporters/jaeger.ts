import type { SpanAttributeValue, SpanDocument } from '../span-document.js';
import { spansBy } from '../spans-by.js';
import type { TraceExporter } from './exporter.js';

// The form is that of Jaeger's query service, /api/traces, which the platform's analyses read as well. Source: jaeger's
// model/json/model.go. Times are whole microseconds there.

interface Tag {
  readonly key: string;
  readonly type: 'string' | 'bool' | 'int64' | 'float64';
  readonly value: string | number | boolean;
}

function tagOf(key: string, value: SpanAttributeValue): Tag {
  if (typeof value === 'string') return { key, type: 'string', value };
  if (typeof value === 'boolean') return { key, type: 'bool', value };
  if (typeof value === 'number') return { key, type: Number.isInteger(value) ? 'int64' : 'float64', value };
  return { key, type: 'string', value: JSON.stringify(value) };
}

function tagsOf(attributes: Readonly<Record<string, SpanAttributeValue>>): Tag[] {
  return Object.entries(attributes).map(([key, value]) => tagOf(key, value));
}

/** To the nearest microsecond. */
function microseconds(nanoseconds: bigint): number {
  return Number((nanoseconds + 500n) / 1000n);
}

function failureTags({ status, status_message }: SpanDocument): Tag[] {
  if (status !== 'error') return [];
  return tagsOf({ error: true, 'otel.status_code': 'ERROR', 'otel.status_description': status_message });
}

function spanOf(span: SpanDocument, processID: string): object {
  const start = BigInt(span.start_unix_nano);
  const parent = { refType: 'CHILD_OF', traceID: span.trace_id, spanID: span.parent_span_id };
  return {
    traceID: span.trace_id,
    spanID: span.span_id,
    operationName: span.name,
    references: span.parent_span_id === '' ? [] : [parent],
    startTime: microseconds(start),
    duration: microseconds(BigInt(span.end_unix_nano) - start),
    tags: [...tagsOf(span.attributes), ...tagsOf({ 'span.kind': span.kind }), ...failureTags(span)],
    logs: [],
    processID,
    warnings: null,
  };
}

/** {"data": [{traceID, spans, processes}]}, one entry for each trace. */
export const jaeger: TraceExporter = (spans) => {
  const traces = spansBy(spans, ({ trace_id }) => trace_id);
  const data = [...traces].map(([traceID, own]) => {
    const processes = new Map<string, string>();
    const processOf = ({ resource }: SpanDocument): string => {
      const key = JSON.stringify(resource);
      const id = processes.get(key) ?? `p${processes.size + 1}`;
      processes.set(key, id);
      return id;
    };
    const written = own.map((span) => spanOf(span, processOf(span)));
    const described = [...processes].map(([key, id]) => {
      const { 'service.name': name = 'unknown_service', ...rest } = JSON.parse(key) as SpanDocument['resource'];
      return [id, { serviceName: String(name), tags: tagsOf(rest) }];
    });
    return { traceID, spans: written, processes: Object.fromEntries(described) as object, warnings: null };
  });
  return { data, total: data.length, limit: 0, offset: 0, errors: null };
};
