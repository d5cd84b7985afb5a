// Arguments of a call are on the stack: f(...list) overflows it from some 120,000 of them.

/** -Infinity for none */
export function maxOf(values: Iterable<number>): number {
  let most = -Infinity;
  for (const value of values) most = Math.max(most, value);
  return most;
}

/** Infinity for none */
export function minOf(values: Iterable<number>): number {
  let least = Infinity;
  for (const value of values) least = Math.min(least, value);
  return least;
}

/** As Math.hypot of all. */
export function hypotOf(values: Iterable<number>): number {
  let squares = 0;
  for (const value of values) squares += value ** 2;
  return Math.sqrt(squares);
}

export function append<Item>(list: Item[], items: Iterable<Item>): void {
  for (const item of items) list.push(item);
}

/** Consecutive parts of a list, each of this size except the last. */
export function* partsOf<Item>(list: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let start = 0; start < list.length; start += size) yield list.slice(start, start + size);
}
