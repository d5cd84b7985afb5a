import type { Interceptor, ServerInterceptor } from '@grpc/grpc-js';
import {
  NO_SPAN,
  type OpenSpan,
  type SpanAttributes,
  type SpanOptions,
  type SpanPlace,
  type TimedSpan,
} from './span.js';
import type { SpanDocument } from './span-document.js';
import type { TraceLevel } from './trace-level.js';

/** Of W3C Trace Context and Baggage, by name: traceparent, tracestate, baggage. */
export type ContextHeaders = Readonly<Record<string, string>>;

export type SpanSink = (spans: readonly SpanDocument[]) => Promise<void>;

/** The current span follows asynchronous calls; gRPC metadata carries it between processes. */
export interface Tracing {
  readonly clientInterceptor: Interceptor;
  readonly serverInterceptor: ServerInterceptor;

  inSpan<T>(name: string, options: SpanOptions, work: (span: OpenSpan) => T): T;

  /** Makes spans of work that was timed elsewhere. The default parent is the current span. */
  record(spans: readonly TimedSpan[], parent?: SpanPlace): Promise<void>;

  level(): TraceLevel;
  atLevel<T>(level: TraceLevel, work: () => T): T;

  traceId(): string | undefined;
  setAttributes(attributes: SpanAttributes): void;

  headers(): ContextHeaders;
  under<T>(headers: ContextHeaders, work: () => T): T;

  /** Takes a trace's finished spans that are in no store, those from `addSpans` too. */
  takeSpans(traceId: string): readonly SpanDocument[];
  addSpans(spans: readonly SpanDocument[]): void;
  /** Finished spans go into this sink from now on. */
  keepSpansIn(sink: SpanSink | undefined): Promise<void>;

  readonly isSending: boolean;
  /** Sends spans that are kept elsewhere to the tracing server. */
  send(spans: readonly SpanDocument[]): Promise<void>;

  /** @throws PlatformError `unavailable` if the export fails */
  flush(): Promise<void>;
  /** Flushes first. @throws as {@link Tracing.flush} */
  close(): Promise<void>;
}

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
