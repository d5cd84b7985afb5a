import type { SpanDocument } from './span-document.js';

/** Spans with the same key, in the order in which they come. */
export function spansBy(
  spans: readonly SpanDocument[],
  keyOf: (span: SpanDocument) => string,
): ReadonlyMap<string, readonly SpanDocument[]> {
  const groups = new Map<string, SpanDocument[]>();
  for (const span of spans) {
    const key = keyOf(span);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [span]);
    else group.push(span);
  }
  return groups;
}
