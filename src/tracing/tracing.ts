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

/** Headers of the W3C Trace Context and Baggage recommendations, by name: traceparent, tracestate, baggage. */
export type ContextHeaders = Readonly<Record<string, string>>;

export type SpanSink = (spans: readonly SpanDocument[]) => Promise<void>;

/**
 * Tracing of this process, while it is on. The current span follows the asynchronous calls that are made in it. Between
 * processes, gRPC metadata carries it.
 */
export interface Tracing {
  /** See grpc.ts. */
  readonly clientInterceptor: Interceptor;
  readonly serverInterceptor: ServerInterceptor;

  inSpan<T>(name: string, options: SpanOptions, work: (span: OpenSpan) => T): T;

  /** Makes spans of work that was timed elsewhere, under the current span or under `parent`. */
  record(spans: readonly TimedSpan[], parent?: SpanPlace): Promise<void>;

  level(): TraceLevel;
  atLevel<T>(level: TraceLevel, work: () => T): T;

  traceId(): string | undefined;
  setAttributes(attributes: SpanAttributes): void;

  headers(): ContextHeaders;
  under<T>(headers: ContextHeaders, work: () => T): T;

  /** Takes the finished spans of a trace that are in no store: those of this process, and those from `addSpans`. */
  takeSpans(traceId: string): readonly SpanDocument[];
  addSpans(spans: readonly SpanDocument[]): void;
  /** Finished spans go into this sink from now on, until a call with undefined. */
  keepSpansIn(sink: SpanSink | undefined): Promise<void>;

  readonly isSending: boolean;
  /** Sends finished spans to the tracing server that are already kept elsewhere. */
  send(spans: readonly SpanDocument[]): Promise<void>;

  /** Waits until finished spans are exported and stored. @throws PlatformError `unavailable` if the export fails */
  flush(): Promise<void>;
  /** Flushes, and ends tracing in this process. @throws as {@link Tracing.flush} */
  close(): Promise<void>;
}

let active: Tracing | undefined;

/** Undefined if tracing is off. OpenTelemetry is not loaded then. */
export function activeTracing(): Tracing | undefined {
  return active;
}

export function setActiveTracing(tracing: Tracing | undefined): void {
  active = tracing;
}

export function traced<T>(name: string, options: SpanOptions, work: (span: OpenSpan) => T): T {
  return active === undefined ? work(NO_SPAN) : active.inSpan(name, options, work);
}
