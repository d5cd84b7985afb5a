import type { Edge } from '../cut/layer-cut.js';

/** Sequences are in topological order, so that one pass is enough. @returns indices of the sequences on the path */
export function longestPath(
  { sequences, edges }: { readonly sequences: readonly unknown[]; readonly edges: readonly Edge[] },
  weights: readonly number[],
): readonly number[] {
  const incoming: number[][] = sequences.map(() => []);
  for (const [from, to] of edges) incoming[to]?.push(from);
  const length: number[] = [];
  const previous: number[] = [];
  for (const [sequence, from] of incoming.entries()) {
    let best = -1;
    for (const candidate of from) if (best < 0 || (length[candidate] ?? 0) > (length[best] ?? 0)) best = candidate;
    previous.push(best);
    length.push((weights[sequence] ?? 0) + (length[best] ?? 0));
  }
  let at = length.reduce((best, value, index) => (value > (length[best] ?? -1) ? index : best), -1);
  const path: number[] = [];
  for (; at >= 0; at = previous[at] ?? -1) path.push(at);
  return path.reverse();
}
