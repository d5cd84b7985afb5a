import { z } from 'zod';

export const SPAN_KINDS = ['internal', 'server', 'client', 'producer', 'consumer'] as const;

/** In the order of OpenTelemetry's codes. */
export const SPAN_STATUSES = ['unset', 'ok', 'error'] as const;

const attributeSchema = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.array(z.union([z.string(), z.number(), z.boolean()])),
]);

/** Times are nanoseconds since 1970, as decimal texts because they are beyond 2^53. */
export const spanDocumentSchema = z.strictObject({
  trace_id: z.string().regex(/^[0-9a-f]{32}$/),
  span_id: z.string().regex(/^[0-9a-f]{16}$/),
  /** '' for a trace's root. */
  parent_span_id: z.string().regex(/^([0-9a-f]{16})?$/),
  name: z.string(),
  kind: z.enum(SPAN_KINDS),
  start_unix_nano: z.string().regex(/^\d{1,20}$/),
  end_unix_nano: z.string().regex(/^\d{1,20}$/),
  attributes: z.record(z.string(), attributeSchema),
  status: z.enum(SPAN_STATUSES),
  status_message: z.string(),
  /** Of the process that made the span. */
  resource: z.record(z.string(), attributeSchema),
});

export type SpanDocument = z.infer<typeof spanDocumentSchema>;

export type SpanAttributeValue = z.infer<typeof attributeSchema>;

export const SPANS = {
  name: 'spans',
  schema: spanDocumentSchema,
  key: ['trace_id', 'span_id'],
  // Roots are listed without reading all spans.
  indexes: [['parent_span_id']],
} as const;

export function spanDurationMs({ start_unix_nano, end_unix_nano }: SpanDocument): number {
  return Number(BigInt(end_unix_nano) - BigInt(start_unix_nano)) / 1e6;
}

export function byStart(a: SpanDocument, b: SpanDocument): number {
  const first = BigInt(a.start_unix_nano);
  const second = BigInt(b.start_unix_nano);
  return first < second ? -1 : first > second ? 1 : 0;
}
