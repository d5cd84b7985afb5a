import type { LayerGraph } from '../../../src/plugin-api.js';
import { liveSizes } from './last-uses.js';
import type { Sequence } from './layer-cut.js';
import { roughMs } from './rough-time.js';

/** The kernels before decide what is in the caches, so a first kernel is slightly wrong; less so in longer bricks. */
const MIN_ROUGH_MS = 1;

/** The ends of successive windows never move back, so that all windows together take linear time. */
function firstOfLeast(values: readonly number[]): (from: number, to: number) => number {
  // Without a smaller later one. Those before `head` are outside of the window.
  const candidates: number[] = [];
  let head = 0;
  let seen = 0;
  const valueAt = (index: number | undefined): number => values[index ?? -1] ?? 0;
  return (from, to) => {
    for (; seen <= to; seen++) {
      while (candidates.length > head && valueAt(candidates.at(-1)) > valueAt(seen)) candidates.pop();
      candidates.push(seen);
    }
    while ((candidates[head] ?? to) < from) head++;
    return candidates[head] ?? to;
  };
}

/**
 * Cuts where the fewest values cross, such as between residual blocks, so that a repeated block is the same brick each
 * time. Looks at most `granularity` kernels ahead, and takes the first of the best places of the least size or more.
 */
export function cutAtFewestValues(graph: LayerGraph, granularity: number): readonly Sequence[] {
  const live = liveSizes(graph, (name) => (graph.constants.has(name) ? 0 : 1));
  const bestEnd = firstOfLeast(live.map(({ after }) => after));
  const works = graph.layers.map((kernel) => roughMs(graph, kernel));
  const count = works.length;
  const sequences: Sequence[] = [];
  for (let first = 0; first < count;) {
    const end = Math.min(count, first + granularity) - 1;
    let large = first;
    let work = works[first] ?? 0;
    while (work < MIN_ROUGH_MS && large < end) work += works[++large] ?? 0;
    const last = bestEnd(large, end);
    sequences.push({ first, last });
    first = last + 1;
  }
  return sequences;
}
