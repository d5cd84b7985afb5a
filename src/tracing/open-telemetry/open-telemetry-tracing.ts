import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import type { Interceptor, ServerInterceptor } from '@grpc/grpc-js';
import type { tracing as sdk } from '@opentelemetry/sdk-node';
import { messageOf, PlatformError } from '../../base/errors.js';
import {
  NO_SPAN,
  type OpenSpan,
  type SpanAttributes,
  type SpanOptions,
  type SpanPlace,
  type TimedSpan,
} from '../span.js';
import type { SpanDocument } from '../span-document.js';
import { includesLevel, type TraceLevel } from '../trace-level.js';
import type { ContextHeaders, SpanSink } from '../tracing.js';
import { unixNanoNow } from '../unix-time.js';
import { clientInterceptor, serverInterceptor } from './interceptors.js';
import { levelIn, withLevel } from './level-in-context.js';
import { toHrTime, toReadableSpan } from './span-conversion.js';
import type { SpanKeeper } from './span-keeper.js';

const SCOPE = 'mlmodelscope';

/** A batch processor drops spans beyond its queue, 2048 by default. */
const SPANS_PER_FLUSH = 1024;

export interface OpenTelemetryParts {
  readonly keeper: SpanKeeper;
  readonly senders: readonly sdk.SpanProcessor[];
  readonly flush: () => Promise<void>;
  readonly shutDown: () => Promise<void>;
}

function fail(span: Span, thrown: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message: messageOf(thrown) });
  span.setAttribute('error.type', thrown instanceof PlatformError ? thrown.code : '_OTHER');
}

/** The current span follows asynchronous calls; gRPC metadata carries it between processes. */
export class OpenTelemetryTracing {
  readonly #tracer: Tracer = trace.getTracer(SCOPE);
  readonly clientInterceptor: Interceptor = clientInterceptor(this.#tracer);
  readonly serverInterceptor: ServerInterceptor = serverInterceptor(this.#tracer);
  #sinceFlush = 0;

  constructor(private readonly parts: OpenTelemetryParts) {}

  inSpan<T>(name: string, { level, attributes }: SpanOptions, work: (span: OpenSpan) => T): T {
    const around = context.active();
    if (!includesLevel(levelIn(around), level)) return work(NO_SPAN);
    const span = this.#start(name, level, attributes, unixNanoNow(), around);
    const end = (): void => span.end(toHrTime(unixNanoNow()));
    const open: OpenSpan = {
      place: span.spanContext(),
      setAttributes: (more) => void span.setAttributes({ ...more }),
      fail: (error) => fail(span, error),
    };
    let result: T;
    try {
      result = context.with(trace.setSpan(around, span), () => work(open));
    } catch (error) {
      fail(span, error);
      end();
      throw error;
    }
    if (!(result instanceof Promise)) {
      end();
      return result;
    }
    return result
      .catch((error: unknown) => {
        fail(span, error);
        throw error;
      })
      .finally(end) as T;
  }

  /** Makes spans of work that was timed elsewhere. The default parent is the current span. */
  async record(spans: readonly TimedSpan[], parent?: SpanPlace): Promise<void> {
    const around = context.active();
    const under = parent === undefined ? around : trace.setSpanContext(around, parent);
    for (const span of spans) await this.#recordOne(span, under, levelIn(around));
  }

  async #recordOne(timed: TimedSpan, under: Context, asked: TraceLevel): Promise<void> {
    const { name, level, attributes, startUnixNano, durationNs, children, error } = timed;
    if (!includesLevel(asked, level)) return;
    const span = this.#start(name, level, attributes, startUnixNano, under);
    const inside = trace.setSpan(under, span);
    for (const child of children) await this.#recordOne(child, inside, asked);
    if (error !== undefined) fail(span, error);
    span.end(toHrTime(startUnixNano + BigInt(durationNs)));
    await this.#flushSometimes();
  }

  async #flushSometimes(): Promise<void> {
    this.#sinceFlush++;
    if (this.#sinceFlush < SPANS_PER_FLUSH) return;
    this.#sinceFlush = 0;
    // `flush` reports failures at the end.
    await this.parts.flush().catch(() => {});
  }

  #start(
    name: string,
    level: TraceLevel,
    attributes: SpanAttributes = {},
    startUnixNano: bigint,
    under: Context,
  ): Span {
    const options = {
      kind: SpanKind.INTERNAL,
      startTime: toHrTime(startUnixNano),
      attributes: { ...attributes, trace_level: level },
    };
    return this.#tracer.startSpan(name, options, under);
  }

  level(): TraceLevel {
    return levelIn(context.active());
  }

  atLevel<T>(level: TraceLevel, work: () => T): T {
    return context.with(withLevel(context.active(), level), work);
  }

  traceId(): string | undefined {
    return trace.getSpanContext(context.active())?.traceId;
  }

  setAttributes(attributes: SpanAttributes): void {
    trace.getActiveSpan()?.setAttributes({ ...attributes });
  }

  headers(): ContextHeaders {
    const headers: Record<string, string> = {};
    propagation.inject(context.active(), headers);
    return headers;
  }

  under<T>(headers: ContextHeaders, work: () => T): T {
    return context.with(propagation.extract(ROOT_CONTEXT, headers), work);
  }

  /** Takes a trace's finished spans that are in no store, those from `addSpans` too. */
  takeSpans(traceId: string): readonly SpanDocument[] {
    return this.parts.keeper.take(traceId);
  }

  addSpans(spans: readonly SpanDocument[]): void {
    this.parts.keeper.add(spans);
  }

  /** Finished spans go into this sink from now on. */
  keepSpansIn(sink: SpanSink | undefined): Promise<void> {
    return this.parts.keeper.keepIn(sink);
  }

  get isSending(): boolean {
    return this.parts.senders.length > 0;
  }

  /** Sends spans that are kept elsewhere to the tracing server. */
  async send(spans: readonly SpanDocument[]): Promise<void> {
    for (const span of spans) {
      for (const sender of this.parts.senders) sender.onEnd(toReadableSpan(span));
      await this.#flushSometimes();
    }
  }

  /** @throws PlatformError `unavailable` if the export fails */
  flush(): Promise<void> {
    return exported(Promise.all([this.parts.flush(), this.parts.keeper.forceFlush()]));
  }

  /** Flushes first. @throws as {@link flush} */
  close(): Promise<void> {
    return exported(this.parts.shutDown());
  }
}

export function exportProblem(cause: unknown): string {
  return `traces could not be exported (${messageOf(cause)}); check OTEL_EXPORTER_OTLP_ENDPOINT and its receiver`;
}

async function exported(flushed: Promise<unknown>): Promise<void> {
  try {
    await flushed;
  } catch (cause) {
    if (cause instanceof PlatformError) throw cause;
    throw new PlatformError('unavailable', exportProblem(cause), { cause });
  }
}
