export type TopologicalOrder =
  | { readonly kind: 'order'; readonly nodes: readonly number[] }
  | { readonly kind: 'cycle'; readonly nodes: readonly number[] };

class MinHeap {
  readonly #items: number[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(item: number): void {
    let at = this.#items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#at(parent) <= item) break;
      this.#items[at] = this.#at(parent);
      at = parent;
    }
    this.#items[at] = item;
  }

  /** Only while `size` is above zero. */
  take(): number {
    const smallest = this.#at(0);
    const item = this.#items.pop() as number;
    const { length } = this.#items;
    if (length === 0) return smallest;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= length) break;
      const child = left + 1 < length && this.#at(left + 1) < this.#at(left) ? left + 1 : left;
      if (this.#at(child) >= item) break;
      this.#items[at] = this.#at(child);
      at = child;
    }
    this.#items[at] = item;
    return smallest;
  }

  #at(index: number): number {
    return this.#items[index] as number;
  }
}

/**
 * A valid order stays (Kahn, "Topological sorting of large networks", 1962, with the smallest ready node first).
 *
 * @param needs for each node the nodes whose outputs it uses; a node may be named more than once
 */
export function topologicalOrder(needs: readonly (readonly number[])[]): TopologicalOrder {
  if (needs.every((needed, node) => needed.every((other) => other < node))) {
    return { kind: 'order', nodes: needs.map((_, node) => node) };
  }
  const users = needs.map((): number[] => []);
  const missing = needs.map((needed) => needed.length);
  needs.forEach((needed, node) => needed.forEach((other) => users[other]?.push(node)));
  const ready = new MinHeap();
  missing.forEach((count, node) => {
    if (count === 0) ready.add(node);
  });
  const nodes: number[] = [];
  while (ready.size > 0) {
    const node = ready.take();
    nodes.push(node);
    for (const user of users[node] ?? []) {
      const left = (missing[user] ?? 0) - 1;
      missing[user] = left;
      if (left === 0) ready.add(user);
    }
  }
  return nodes.length === needs.length ? { kind: 'order', nodes } : { kind: 'cycle', nodes: findCycle(needs, missing) };
}

/** @param missing above zero for the nodes that are on a cycle or need one that is */
function findCycle(needs: readonly (readonly number[])[], missing: readonly number[]): readonly number[] {
  const isStuck = (node: number): boolean => (missing[node] ?? 0) > 0;
  const way: number[] = [];
  const seenAt = new Map<number, number>();
  let node = missing.findIndex((count) => count > 0);
  while (!seenAt.has(node)) {
    seenAt.set(node, way.push(node) - 1);
    node = needs[node]?.find(isStuck) ?? node;
  }
  const [first = node, ...others] = way.slice(seenAt.get(node));
  return [first, ...others.reverse()];
}
