import { createHash } from 'node:crypto';
import { z } from 'zod';

/* Traces as Jaeger's query service gives them (jaeger, model/json/model.go), as far as they are written here. */

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
  /** Microseconds since 1970. */
  startTime: z.number().nonnegative(),
  /** Microseconds. */
  duration: z.number().nonnegative(),
  tags: z.array(tagSchema),
  logs: z.array(z.never()),
  processID: z.string(),
});

export type JaegerTag = z.infer<typeof tagSchema>;
export type JaegerSpan = z.infer<typeof spanSchema>;

export const jaegerTraceSchema = z.strictObject({
  data: z.array(
    z.strictObject({
      traceID: z.string(),
      spans: z.array(spanSchema),
      processes: z.record(z.string(), z.strictObject({ serviceName: z.string(), tags: z.array(tagSchema) })),
    }),
  ),
});

export type JaegerTrace = z.infer<typeof jaegerTraceSchema>;

/** A span before it is given its identifiers. */
export interface PlainSpan {
  readonly name: string;
  readonly startMicros: number;
  readonly durationMicros: number;
  readonly tags: Readonly<Record<string, string | number | boolean>>;
  readonly children: readonly PlainSpan[];
}

/** One trace of one process. @param seed decides the identifiers: the same trace made again is the same */
export function jaegerTrace(seed: string, serviceName: string, root: PlainSpan): JaegerTrace {
  const traceID = hash(seed).slice(0, 32);
  const spans: JaegerSpan[] = [];
  const add = (span: PlainSpan, parent: string | undefined): void => {
    const spanID = hash(`${seed} ${spans.length}`).slice(0, 16);
    spans.push({
      traceID,
      spanID,
      operationName: span.name,
      references: parent === undefined ? [] : [{ refType: 'CHILD_OF', traceID, spanID: parent }],
      startTime: Math.round(span.startMicros),
      duration: Math.round(span.durationMicros),
      tags: Object.entries(span.tags).map(([key, value]) => ({ key, type: typeOf(value), value })),
      logs: [],
      processID: 'p1',
    });
    for (const child of span.children) add(child, spanID);
  };
  add(root, undefined);
  return { data: [{ traceID, spans, processes: { p1: { serviceName, tags: [] } } }] };
}

function typeOf(value: string | number | boolean): JaegerTag['type'] {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  return Number.isInteger(value) ? 'int64' : 'float64';
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
