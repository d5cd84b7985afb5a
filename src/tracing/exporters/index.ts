import type { TraceExporter } from './exporter.js';
import { jaeger } from './jaeger.js';
import { otlp } from './otlp.js';

/** Every form that a trace can be written in. */
export const SPAN_EXPORTERS = { jaeger, otlp } as const satisfies Record<string, TraceExporter>;

export type SpanFormat = keyof typeof SPAN_EXPORTERS;
