/** Below the 4 MiB that gRPC clients accept by default. */
const PAGE_BYTES = 2 * 2 ** 20;

/** As many items as fit into `most` and 2 MiB, at least one. */
export function firstPage<T>(
  list: Iterable<T>,
  bytesOf: (item: T) => number,
  most = Infinity,
): { readonly items: readonly T[]; readonly isLast: boolean } {
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
