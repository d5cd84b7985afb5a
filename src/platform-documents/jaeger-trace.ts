import { createHash } from 'node:crypto';
import { type JaegerDocument, jaegerProcess, type JaegerSpan, jaegerSpan } from '../tracing/jaeger-document.js';

/** The one process of the trace. */
const PROCESS = 'p1';

/** A span before it is given its identifiers. */
export interface PlainSpan {
  readonly name: string;
  readonly startMicros: number;
  readonly durationMicros: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly children: readonly PlainSpan[];
}

/** One trace of one process. @param seed decides the identifiers: the same trace made again is the same */
export function jaegerTrace(seed: string, serviceName: string, root: PlainSpan): JaegerDocument {
  const traceId = hash(seed).slice(0, 32);
  const spans: JaegerSpan[] = [];
  const add = ({ children, ...span }: PlainSpan, parentSpanId: string): void => {
    const spanId = hash(`${seed} ${spans.length}`).slice(0, 16);
    spans.push(jaegerSpan({ ...span, traceId, spanId, parentSpanId, processId: PROCESS }));
    for (const child of children) add(child, spanId);
  };
  add(root, '');
  return { data: [{ traceID: traceId, spans, processes: { [PROCESS]: jaegerProcess(serviceName, {}) } }] };
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
