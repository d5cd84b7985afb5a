import type { OpenTelemetryTracing } from './open-telemetry/open-telemetry-tracing.js';
import { NO_SPAN, type OpenSpan, type SpanOptions } from './span.js';
import type { SpanDocument } from './span-document.js';

/** Of W3C Trace Context and Baggage, by name: traceparent, tracestate, baggage. */
export type ContextHeaders = Readonly<Record<string, string>>;

export type SpanSink = (spans: readonly SpanDocument[]) => Promise<void>;

export type Tracing = OpenTelemetryTracing;

let active: Tracing | undefined;

export function activeTracing(): Tracing | undefined {
  return active;
}

export function setActiveTracing(tracing: Tracing | undefined): void {
  active = tracing;
}

export function traced<T>(name: string, options: SpanOptions, work: (span: OpenSpan) => T): T {
  return active === undefined ? work(NO_SPAN) : active.inSpan(name, options, work);
}
