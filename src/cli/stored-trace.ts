import { PlatformError } from '../base/errors.js';
import { collect } from '../base/collect.js';
import { evaluationCollections } from '../evaluation/records.js';
import { EVALUATION_SPAN } from '../evaluation/run/serve-plugin.js';
import type { ResultStore } from '../store/result-store.js';
import { byStart, type SpanDocument, SPANS } from '../tracing/span-document.js';

/** Header of version 00 of W3C's Trace Context: the trace's id is its second part. */
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-/;

async function readSpans(store: ResultStore, traceId: string): Promise<readonly SpanDocument[]> {
  return (await collect(store.collection(SPANS).find({ trace_id: traceId }))).sort(byStart);
}

/** Stands for a trace whose root is not in the store: its evaluation's run, from the earliest start to the latest end. */
function standInFor(spans: readonly SpanDocument[]): SpanDocument | undefined {
  const [first] = spans;
  if (first === undefined) return undefined;
  const ends = spans.map(({ end_unix_nano: end }) => BigInt(end));
  const last = ends.reduce((latest, end) => (end > latest ? end : latest));
  const run = spans.find(({ name }) => name === EVALUATION_SPAN) ?? first;
  return { ...run, start_unix_nano: first.start_unix_nano, end_unix_nano: `${last}` };
}

/** Ids of the traces of submitted evaluations. Clients began these traces, and only the clients have the roots. */
async function submittedTraces(store: ResultStore): Promise<ReadonlySet<string>> {
  const traceIds = new Set<string>();
  for await (const { traceContext } of evaluationCollections(store).records.find({})) {
    const [, traceId] = TRACEPARENT.exec(traceContext['traceparent'] ?? '') ?? [];
    if (traceId !== undefined) traceIds.add(traceId);
  }
  return traceIds;
}

export async function storedRoots(store: ResultStore): Promise<readonly SpanDocument[]> {
  const roots = await collect(store.collection(SPANS).find({ parent_span_id: '' }));
  const known = new Set(roots.map(({ trace_id: id }) => id));
  for (const traceId of await submittedTraces(store)) {
    const standIn = known.has(traceId) ? undefined : standInFor(await readSpans(store, traceId));
    if (standIn !== undefined) roots.push(standIn);
  }
  return roots.sort((a, b) => byStart(b, a));
}

/** @param id 32 hexadecimal digits, first digits of only one trace, or `latest` @throws PlatformError `not_found` */
export async function storedTrace(store: ResultStore, id: string): Promise<readonly SpanDocument[]> {
  const notFound = (problem: string): PlatformError =>
    new PlatformError('not_found', `${problem}; \`mlmodelscope trace list\` shows the traces in it`);
  const digits = id.toLowerCase();
  let traceId: string | undefined = digits;
  if (!/^[0-9a-f]{32}$/.test(digits)) {
    const roots = await storedRoots(store);
    const meant = id === 'latest' ? roots.slice(0, 1) : roots.filter(({ trace_id }) => trace_id.startsWith(digits));
    if (meant.length > 1) throw notFound(`${meant.length} traces begin with ${id}`);
    traceId = meant[0]?.trace_id;
  }
  const spans = traceId === undefined ? [] : await readSpans(store, traceId);
  if (spans.length > 0) return spans;
  throw notFound(`no trace ${id} is in the store`);
}
