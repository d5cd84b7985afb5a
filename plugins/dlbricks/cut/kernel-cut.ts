import type { LayerGraph } from '../../../src/plugin-api.js';
import { lastUses } from './last-uses.js';
import { requireGranularity, type Sequence } from './layer-cut.js';
import { roughMs } from './rough-time.js';

/**
 * Least size of a brick, by {@link roughMs}. The kernels before a kernel decide what is in the caches, so a brick's
 * first kernel is measured slightly wrong; this matters less in a longer brick. Bricks of this size still cost little
 * to measure, even though longer bricks repeat less often.
 */
const MIN_ROUGH_MS = 1;

/** For each kernel, the number of values written so far that later kernels read. */
function liveValues(graph: LayerGraph): readonly number[] {
  const lastUse = lastUses(graph);
  const endings = new Map<number, number>();
  let live = 0;
  const start = (name: string): void => {
    const end = lastUse.get(name);
    if (end === undefined || graph.constants.has(name)) return;
    live++;
    endings.set(end, (endings.get(end) ?? 0) + 1);
  };
  for (const name of graph.inputs) start(name);
  return graph.layers.map((kernel, index) => {
    for (const name of kernel.outputs) start(name);
    live -= endings.get(index) ?? 0;
    return live;
  });
}

/**
 * Finds the first of the least values in a window, both ends included. The ends of successive windows never move back,
 * so that all windows together take time linear in the number of values.
 */
function firstOfLeast(values: readonly number[]): (from: number, to: number) => number {
  // Indices of the values seen so far without a smaller later one. Those before `head` are outside of the window.
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
 * Cuts a runtime's optimized graph where the fewest values cross: between residual blocks, inception modules, the
 * halves of a transformer layer. A repeated block thus becomes the same brick each time. Looks at most `granularity`
 * kernels ahead, takes the first of the best places once the brick has its least size, and cuts at `granularity` at the
 * latest. Linear in the size of the graph.
 *
 * @param granularity the longest brick allowed, in kernels; 1 makes every kernel a brick
 */
export function cutAtFewestValues(graph: LayerGraph, granularity: number): readonly Sequence[] {
  requireGranularity(granularity);
  const bestEnd = firstOfLeast(liveValues(graph));
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
