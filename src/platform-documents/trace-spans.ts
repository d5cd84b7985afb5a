import { sha256Of } from '../base/sha256.js';
import type { SpanAttributeValue, SpanDocument } from '../tracing/span-document.js';

/** Times are whole microseconds. */
export interface PlainSpan {
  readonly name: string;
  /** Since 1970. */
  readonly startMicros: number;
  readonly durationMicros: number;
  readonly attributes: Readonly<Record<string, SpanAttributeValue>>;
  readonly children: readonly PlainSpan[];
}

const NS_PER_MICROSECOND = 1000n;

/** The root comes first. @param seed decides the identifiers: the same seed and spans give the same trace */
export function traceSpans(seed: string, resource: SpanDocument['resource'], root: PlainSpan): readonly SpanDocument[] {
  const trace_id = sha256Of(seed).slice(0, 32);
  const spans: SpanDocument[] = [];
  const add = ({ name, startMicros, durationMicros, attributes, children }: PlainSpan, parent: string): void => {
    const span_id = sha256Of(`${seed} ${spans.length}`).slice(0, 16);
    spans.push({
      trace_id,
      span_id,
      parent_span_id: parent,
      name,
      kind: 'internal',
      start_unix_nano: `${BigInt(startMicros) * NS_PER_MICROSECOND}`,
      end_unix_nano: `${BigInt(startMicros + durationMicros) * NS_PER_MICROSECOND}`,
      attributes,
      status: 'unset',
      status_message: '',
      resource,
    });
    for (const child of children) add(child, span_id);
  };
  add(root, '');
  return spans;
}
