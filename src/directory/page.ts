/** Below the 4 MiB that clients of gRPC take unless they say otherwise, and encoded in a part of the time that others wait. */
const PAGE_BYTES = 2 * 2 ** 20;

/** What of a list goes into one message, and whether that is all of it. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly isLast: boolean;
}

/** The first items of a list, as many as 2 MiB hold and one at least. No more of the list is made than that. */
export function firstPage<T>(list: Iterable<T>, bytesOf: (item: T) => number, most = Infinity): Page<T> {
  const items: T[] = [];
  let bytes = 0;
  for (const item of list) {
    bytes += bytesOf(item);
    if (items.length >= most || (items.length > 0 && bytes > PAGE_BYTES)) return { items, isLast: false };
    items.push(item);
  }
  return { items, isLast: true };
}
