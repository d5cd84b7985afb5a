/** Below the 4 MiB that gRPC clients accept by default; encoding this much takes some milliseconds. */
const PAGE_BYTES = 2 * 2 ** 20;

export interface Page<T> {
  readonly items: readonly T[];
  readonly isLast: boolean;
}

/** The first items of a list: at most `most`, as many as fit into 2 MiB, and at least one. */
export function firstPage<T>(list: Iterable<T>, bytesOf: (item: T) => number, most = Infinity): Page<T> {
  const items: T[] = [];
  let bytes = 0;
  for (const item of list) {
    if (items.length >= most) return { items, isLast: false };
    bytes += bytesOf(item);
    if (items.length > 0 && bytes > PAGE_BYTES) return { items, isLast: false };
    items.push(item);
  }
  return { items, isLast: true };
}
