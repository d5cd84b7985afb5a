import { Heap } from '../../base/heap.js';

export type TopologicalOrder =
  | { readonly kind: 'order'; readonly nodes: readonly number[] }
  | { readonly kind: 'cycle'; readonly nodes: readonly number[] };

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
  const ready = new Heap<number>((one, other) => one < other);
  missing.forEach((count, node) => {
    if (count === 0) ready.add(node);
  });
  const nodes: number[] = [];
  for (let node = ready.take(); node !== undefined; node = ready.take()) {
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
