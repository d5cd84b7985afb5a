import type { TraceLevel } from './trace-level.js';

export type SpanAttributes = Readonly<Record<string, string | number | boolean | string[]>>;

export interface SpanOptions {
  /** The span is made only if the trace goes this deep. */
  readonly level: TraceLevel;
  readonly attributes?: SpanAttributes;
}

/** For spans that are recorded under a span after it has ended. */
export interface SpanPlace {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

export interface OpenSpan {
  /** Undefined if the span is not made. */
  readonly place: SpanPlace | undefined;
  setAttributes(attributes: SpanAttributes): void;
  /** For work that ends with an error and does not throw it. */
  fail(error: unknown): void;
}

/** Timed without a tracer: by a worker process, or by a runtime's profile. */
export interface TimedSpan {
  readonly name: string;
  readonly level: TraceLevel;
  readonly startUnixNano: bigint;
  readonly durationNs: number;
  readonly attributes: SpanAttributes;
  readonly children: readonly TimedSpan[];
  /** The message of the error that ended the span. */
  readonly error?: string | undefined;
}

export const NO_SPAN: OpenSpan = { place: undefined, setAttributes: () => {}, fail: () => {} };
