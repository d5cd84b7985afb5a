import type { tracing as sdk } from '@opentelemetry/sdk-node';
import { append } from '../../base/long-lists.js';
import type { SpanDocument } from '../span-document.js';
import type { SpanSink } from '../tracing.js';
import { toSpanDocument } from './span-conversion.js';

/** The oldest spans are dropped beyond this number. About 1 KB each. */
const MAX_HELD = 20_000;

const SPANS_PER_PUT = 256;

const PUT_DELAY_MS = 1000;

/** Holds finished spans until they are stored, or taken by a process with a store. */
export class SpanKeeper implements sdk.SpanProcessor {
  #held: SpanDocument[] = [];
  #sink: SpanSink | undefined;
  #putting: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  onStart(): void {}

  onEnd(span: sdk.ReadableSpan): void {
    this.add([toSpanDocument(span)]);
  }

  add(spans: readonly SpanDocument[]): void {
    append(this.#held, spans);
    const sink = this.#sink;
    if (sink !== undefined && this.#held.length >= SPANS_PER_PUT) this.#put(sink);
    else if (sink !== undefined) this.#timer ??= setTimeout(() => this.#put(sink), PUT_DELAY_MS).unref();
    if (this.#held.length > MAX_HELD) this.#held.splice(0, this.#held.length - MAX_HELD);
  }

  take(traceId: string): readonly SpanDocument[] {
    const taken = this.#held.filter(({ trace_id }) => trace_id === traceId);
    this.#held = this.#held.filter(({ trace_id }) => trace_id !== traceId);
    return taken;
  }

  /** First stores the spans that are held. */
  async keepIn(sink: SpanSink | undefined): Promise<void> {
    await this.forceFlush();
    this.#sink = sink;
  }

  /** @throws the errors of the sink */
  async forceFlush(): Promise<void> {
    if (this.#sink !== undefined) this.#put(this.#sink);
    const putting = this.#putting;
    // The error is thrown once.
    this.#putting = Promise.resolve();
    await putting;
  }

  shutdown(): Promise<void> {
    return this.forceFlush();
  }

  #put(sink: SpanSink): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const spans = this.#held;
    this.#held = [];
    if (spans.length === 0) return;
    this.#putting = this.#putting.then(() => sink(spans));
    // `forceFlush` throws it.
    this.#putting.catch(() => {});
  }
}
