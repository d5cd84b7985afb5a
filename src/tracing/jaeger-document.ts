import { z } from 'zod';
import type { SpanAttributeValue } from './span-document.js';

// As Jaeger's query service gives them at /api/traces (jaeger, model/json/model.go). Times are whole microseconds.

const tagSchema = z.strictObject({
  key: z.string(),
  type: z.enum(['string', 'int64', 'float64', 'bool']),
  value: z.union([z.string(), z.number(), z.boolean()]),
});

const spanSchema = z.strictObject({
  traceID: z.string(),
  spanID: z.string(),
  operationName: z.string(),
  references: z.array(z.strictObject({ refType: z.literal('CHILD_OF'), traceID: z.string(), spanID: z.string() })),
  startTime: z.number().nonnegative(),
  duration: z.number().nonnegative(),
  tags: z.array(tagSchema),
  logs: z.array(z.never()),
  processID: z.string(),
});

const processSchema = z.strictObject({ serviceName: z.string(), tags: z.array(tagSchema) });

export const jaegerDocumentSchema = z.strictObject({
  data: z.array(
    z.strictObject({
      traceID: z.string(),
      spans: z.array(spanSchema),
      processes: z.record(z.string(), processSchema),
    }),
  ),
});

export type JaegerSpan = z.infer<typeof spanSchema>;
export type JaegerDocument = z.infer<typeof jaegerDocumentSchema>;

type Attributes = Readonly<Record<string, SpanAttributeValue>>;

export interface JaegerSpanFields {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly startMicros: number;
  readonly durationMicros: number;
  readonly attributes: Attributes;
  readonly processId: string;
}

function jaegerTag(key: string, value: SpanAttributeValue): z.infer<typeof tagSchema> {
  if (typeof value === 'string') return { key, type: 'string', value };
  if (typeof value === 'boolean') return { key, type: 'bool', value };
  if (typeof value === 'number') return { key, type: Number.isInteger(value) ? 'int64' : 'float64', value };
  return { key, type: 'string', value: JSON.stringify(value) };
}

function jaegerTags(attributes: Attributes): z.infer<typeof tagSchema>[] {
  return Object.entries(attributes).map(([key, value]) => jaegerTag(key, value));
}

export function jaegerSpan(span: JaegerSpanFields): JaegerSpan {
  const { traceId: traceID, parentSpanId } = span;
  return {
    traceID,
    spanID: span.spanId,
    operationName: span.name,
    references: parentSpanId === '' ? [] : [{ refType: 'CHILD_OF', traceID, spanID: parentSpanId }],
    startTime: Math.round(span.startMicros),
    duration: Math.round(span.durationMicros),
    tags: jaegerTags(span.attributes),
    logs: [],
    processID: span.processId,
  };
}

export function jaegerProcess(serviceName: string, attributes: Attributes): z.infer<typeof processSchema> {
  return { serviceName, tags: jaegerTags(attributes) };
}
