import { z } from 'zod';

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

export type JaegerTag = z.infer<typeof tagSchema>;
export type JaegerSpan = z.infer<typeof spanSchema>;
export type JaegerDocument = z.infer<typeof jaegerDocumentSchema>;
