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

/** Finished spans on their way into a store. */
export type SpanSink = (spans: readonly SpanDocument[]) => Promise<void>;

/**
 * Tracing of this process, while it is on. The current span follows the asynchronous calls that are made in it. Between
 * processes, gRPC metadata carries it.
 */
export interface Tracing {
  /** See grpc.ts. */
  readonly clientInterceptor: Interceptor;
  readonly serverInterceptor: ServerInterceptor;

  /** Runs the work in its own span, which ends with the work. The span is marked as failed if the work throws. */
  inSpan<T>(name: string, options: SpanOptions, work: (span: OpenSpan) => T): T;

  /** Makes spans of work that was timed elsewhere, under the current span or under `parent`. */
  record(spans: readonly TimedSpan[], parent?: SpanPlace): Promise<void>;

  /** How deep the current trace goes. */
  level(): TraceLevel;
  /** Runs the work with spans down to this level, in every process that it reaches. */
  atLevel<T>(level: TraceLevel, work: () => T): T;

  /** 32 hexadecimal digits; undefined outside of any span. */
  traceId(): string | undefined;
  setAttributes(attributes: SpanAttributes): void;

  /** The current span as headers, for processes that no gRPC call from here reaches. */
  headers(): ContextHeaders;
  /** Runs the work in the span that headers name. */
  under<T>(headers: ContextHeaders, work: () => T): T;

  /** Takes the finished spans of a trace that are in no store: those of this process, and those from `addSpans`. */
  takeSpans(traceId: string): readonly SpanDocument[];
  /** Adds spans that other processes finished. */
  addSpans(spans: readonly SpanDocument[]): void;
  /** Finished spans go into this sink from now on, until a call with undefined. */
  keepSpansIn(sink: SpanSink | undefined): Promise<void>;

  /** Whether finished spans are sent to a tracing server. */
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

/** Runs the work, in a span if tracing is on; see {@link Tracing.inSpan}. */
export function traced<T>(name: string, options: SpanOptions, work: (span: OpenSpan) => T): T {
  return active === undefined ? work(NO_SPAN) : active.inSpan(name, options, work);
}
