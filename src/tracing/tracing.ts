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
 * Tracing of this process, where it is on. The current span follows the asynchronous calls that are made in it; between
 * processes it travels in gRPC metadata.
 */
export interface Tracing {
  /** See grpc.ts. */
  readonly clientInterceptor: Interceptor;
  readonly serverInterceptor: ServerInterceptor;

  /** Runs the work in a span of its own, which ends with the work, as failed where it throws. */
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

  /** The current span as headers, for processes that no gRPC call carries it to. */
  headers(): ContextHeaders;
  /** Runs the work in the span that headers name. */
  under<T>(headers: ContextHeaders, work: () => T): T;

  /** Takes the finished spans of a trace that went to no store, of this process and of others that handed theirs over. */
  takeSpans(traceId: string): readonly SpanDocument[];
  /** Adds spans that other processes finished. */
  addSpans(spans: readonly SpanDocument[]): void;
  /** Finished spans go there from now on, until it is called with undefined. */
  keepSpansIn(sink: SpanSink | undefined): Promise<void>;

  /** Whether finished spans are sent to a tracing server. */
  readonly isSending: boolean;
  /** Sends finished spans there that are kept elsewhere already. */
  send(spans: readonly SpanDocument[]): Promise<void>;

  /** Waits until finished spans are exported and kept. @throws PlatformError `unavailable` where it cannot be exported */
  flush(): Promise<void>;
  /** Flushes, and ends tracing in this process. @throws as {@link Tracing.flush} */
  close(): Promise<void>;
}

let active: Tracing | undefined;

/** Undefined where tracing is off. OpenTelemetry is not loaded then. */
export function activeTracing(): Tracing | undefined {
  return active;
}

export function setActiveTracing(tracing: Tracing | undefined): void {
  active = tracing;
}

/** Runs the work in a span where tracing is on; see {@link Tracing.inSpan}. */
export function traced<T>(name: string, options: SpanOptions, work: (span: OpenSpan) => T): T {
  return active === undefined ? work(NO_SPAN) : active.inSpan(name, options, work);
}
