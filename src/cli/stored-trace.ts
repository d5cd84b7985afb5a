import { PlatformError } from '../base/errors.js';
import type { ResultStore } from '../store/result-store.js';
import { byStart, type SpanDocument, SPANS } from '../tracing/span-document.js';

/** Roots of the traces in a store, the newest first. */
export async function storedRoots(store: ResultStore): Promise<readonly SpanDocument[]> {
  const roots: SpanDocument[] = [];
  for await (const root of store.collection(SPANS).find({ parent_span_id: '' })) roots.push(root);
  return roots.sort((a, b) => byStart(b, a));
}

/**
 * The spans of a trace, by their start.
 *
 * @param id 32 hexadecimal digits, the first few of them where no other trace begins so, or `latest`
 * @throws PlatformError `not_found`
 */
export async function storedTrace(store: ResultStore, id: string): Promise<readonly SpanDocument[]> {
  let traceId = id.toLowerCase();
  if (!/^[0-9a-f]{32}$/.test(traceId)) {
    const roots = await storedRoots(store);
    const meant = id === 'latest' ? roots.slice(0, 1) : roots.filter(({ trace_id }) => trace_id.startsWith(traceId));
    const [root] = meant;
    if (root === undefined || meant.length > 1) {
      const problem = meant.length > 1 ? `${meant.length} traces begin with ${id}` : `no trace ${id} is in the store`;
      throw new PlatformError('not_found', `${problem}; \`mlmodelscope trace list\` shows the traces in it`);
    }
    traceId = root.trace_id;
  }
  const spans: SpanDocument[] = [];
  for await (const span of store.collection(SPANS).find({ trace_id: traceId })) spans.push(span);
  if (spans.length > 0) return spans.sort(byStart);
  throw new PlatformError(
    'not_found',
    `no trace ${id} is in the store; \`mlmodelscope trace list\` shows the traces in it`,
  );
}
