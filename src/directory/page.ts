/**
 * Below the 4 MiB that gRPC clients accept by default, and small enough that encoding it does not block other work for
 * long.
 */
const PAGE_BYTES = 2 * 2 ** 20;

/** Bytes that are counted in one turn of the event loop: a few milliseconds. */
const BYTES_PER_TURN = 256 * 1024;

export interface Page<T> {
  readonly items: readonly T[];
  readonly isLast: boolean;
}

interface PageOptions<T> {
  /** The bytes of an item in the message; takes time for large ones. */
  readonly bytesOf: (item: T) => number;
  readonly most?: number | undefined;
  readonly turn: () => Promise<void>;
}

/**
 * The first items of a list: as many as fit into 2 MiB, and at least one. It takes at most one further item from the
 * list.
 */
export async function firstPage<T>(
  list: Iterable<T>,
  { bytesOf, most = Infinity, turn }: PageOptions<T>,
): Promise<Page<T>> {
  const items: T[] = [];
  let bytes = 0;
  let bytesOfTurn = 0;
  for (const item of list) {
    const ofItem = bytesOf(item);
    bytes += ofItem;
    bytesOfTurn += ofItem;
    if (bytesOfTurn >= BYTES_PER_TURN) {
      bytesOfTurn = 0;
      await turn();
    }
    if (items.length >= most || (items.length > 0 && bytes > PAGE_BYTES)) return { items, isLast: false };
    items.push(item);
  }
  return { items, isLast: true };
}
