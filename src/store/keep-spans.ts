import { SPANS } from '../tracing/span-document.js';
import { activeTracing } from '../tracing/tracing.js';
import type { ResultStore } from './result-store.js';

export async function keepSpans(store: ResultStore): Promise<void> {
  const spans = store.collection(SPANS);
  await activeTracing()?.keepSpansIn((finished) => spans.putMany(finished));
}

/** Stores the finished spans, and no more. Call it before the store is closed. @throws PlatformError `storage` */
export async function stopKeepingSpans(): Promise<void> {
  await activeTracing()?.keepSpansIn(undefined);
}
