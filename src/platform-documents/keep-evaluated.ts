import type { ResultStore } from '../store/result-store.js';
import { unlessUnavailable } from '../store/unless-unavailable.js';
import { traceUrl, readTraceUrlTemplate } from '../tracing/trace-url.js';
import { activeTracing } from '../tracing/tracing.js';
import { EVALUATION_DOCUMENTS, PERFORMANCE_DOCUMENTS } from './documents.js';
import { buildDocuments, computeIds } from './documents-of.js';
import type { Evaluated } from './evaluated.js';

export interface KeepOptions {
  /** By default as the environment says. */
  readonly traceUrlTemplate?: string | undefined;
}

/** undefined also where the server is gone; new documents then stay on this machine. */
async function storedIn<T>({ isUnavailable }: ResultStore, get: () => Promise<T | undefined>): Promise<T | undefined> {
  return isUnavailable === true ? undefined : unlessUnavailable(get());
}

/**
 * Idempotent. Where traces are sent to a tracing server whose addresses are known, the trace is sent there once.
 *
 * @throws PlatformError `storage` as the store does, `usage` for an invalid URL template in the environment
 */
export async function keepEvaluated(
  store: ResultStore,
  evaluated: Evaluated,
  { traceUrlTemplate = readTraceUrlTemplate(process.env) }: KeepOptions = {},
): Promise<void> {
  const evaluations = store.collection(EVALUATION_DOCUMENTS);
  const performances = store.collection(PERFORMANCE_DOCUMENTS);
  const ids = computeIds(evaluated);
  const stored = await storedIn(store, () => evaluations.get({ _id: ids.evaluation }));
  // Where this version has already stored the same runs, they keep their host and their trace's address.
  const isSame = stored?.gpu_driver !== undefined && Date.parse(stored.created_at) === Date.parse(evaluated.endedAt);
  const before = isSame ? await storedIn(store, () => performances.get({ _id: ids.performance })) : undefined;
  const host = isSame ? stored.hostname : evaluated.host;
  const { evaluation, performance, spans } = buildDocuments({ ...evaluated, host });
  let trace_url = before?.trace_url ?? '';
  const tracing = activeTracing();
  if (traceUrlTemplate !== undefined && tracing?.isSending === true) {
    const url = traceUrl(traceUrlTemplate, spans[0]?.trace_id ?? '');
    if (url !== trace_url) await tracing.send(spans);
    trace_url = url;
  }
  // Documents that others refer to are stored first.
  await performances.put({ ...performance, trace_url });
  await evaluations.put(evaluation);
}
