/** Spans with the same key, in the order in which they come. */
export function spansBy<Span>(
  spans: readonly Span[],
  keyOf: (span: Span) => string,
): ReadonlyMap<string, readonly Span[]> {
  const groups = new Map<string, Span[]>();
  for (const span of spans) {
    const key = keyOf(span);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [span]);
    else group.push(span);
  }
  return groups;
}
