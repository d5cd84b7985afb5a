import type { Exporter } from '../../base/exporters/exporter.js';
import { byStart, type SpanDocument } from '../span-document.js';
import { groupedBy } from '../../base/grouped-by.js';

// Chrome's trace events, which Perfetto opens. Source: "Trace Event Format", Google, 2016: complete events (X) with
// times in microseconds, and metadata events (M) that name the processes.

const NS_PER_US = 1000;

type Timed = ReturnType<typeof timed>;

function timed(span: SpanDocument) {
  return { span, startNano: BigInt(span.start_unix_nano), endNano: BigInt(span.end_unix_nano) };
}

/** Of two spans that start together, the longer one contains the other. */
function byStartAndLength(a: Timed, b: Timed): number {
  return byStart(a.span, b.span) || (a.endNano > b.endNano ? -1 : a.endNano < b.endNano ? 1 : 0);
}

/**
 * Spans of one thread must follow or contain each other: viewers draw nothing else.
 *
 * @param spans in the order of {@link byStartAndLength}
 * @returns each span's thread, from 1 up
 */
function assignThreads(spans: readonly Timed[]): readonly number[] {
  // The ends of each thread's open spans, the innermost last.
  const open: bigint[][] = [];
  return spans.map(({ startNano, endNano }) => {
    for (const ends of open) while ((ends.at(-1) ?? startNano + 1n) <= startNano) ends.pop();
    const free = open.findIndex((ends) => (ends.at(-1) ?? endNano) >= endNano);
    const thread = free === -1 ? open.length : free;
    (open[thread] ??= []).push(endNano);
    return thread + 1;
  });
}

function listArguments({ attributes, status, status_message, ...span }: SpanDocument): object {
  const { trace_id, span_id, parent_span_id } = span;
  const failure = status === 'error' ? { error: status_message } : {};
  return { ...attributes, ...failure, trace_id, span_id, parent_span_id };
}

export const chrome: Exporter<readonly SpanDocument[]> = (spans) => {
  const all = spans.map(timed).sort(byStartAndLength);
  const originNano = all[0]?.startNano ?? 0n;
  const processes = groupedBy(all, ({ span }) => JSON.stringify(span.resource));
  const events = [...processes.values()].flatMap((own, index) => {
    const pid = index + 1;
    const resource = own[0]?.span.resource ?? {};
    const name = String(resource['service.name'] ?? 'unknown_service');
    const threads = assignThreads(own);
    return [
      // Some readers require cat, tid and ts in every event.
      { ph: 'M', cat: '__metadata', name: 'process_name', pid, tid: 0, ts: 0, args: { ...resource, name } },
      ...own.map(({ span, startNano, endNano }, i) => ({
        ph: 'X',
        cat: String(span.attributes['trace_level'] ?? span.kind),
        name: span.name,
        pid,
        tid: threads[i],
        ts: Number(startNano - originNano) / NS_PER_US,
        dur: Number(endNano - startNano) / NS_PER_US,
        args: listArguments(span),
      })),
    ];
  });
  return `{"displayTimeUnit":"ms","traceEvents":[\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]}\n`;
};
