import { SPANS } from '../tracing/span-document.js';
import { activeTracing } from '../tracing/tracing.js';
import type { ResultStore } from './result-store.js';

/** Has the spans of this process kept in a store as well, where tracing is on. */
export async function keepSpans(store: ResultStore): Promise<void> {
  const spans = store.collection(SPANS);
  await activeTracing()?.keepSpansIn((finished) => spans.putMany(finished));
}

/** Waits for the spans that finished, and keeps no more; before the store is closed. @throws PlatformError `storage` */
export async function keepNoMoreSpans(): Promise<void> {
  await activeTracing()?.keepSpansIn(undefined);
}
