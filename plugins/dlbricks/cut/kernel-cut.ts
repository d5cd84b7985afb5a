import type { LayerGraph } from '../../../src/plugin-api.js';
import { lastUses } from './last-uses.js';
import { requireGranularity, type Sequence } from './layer-cut.js';
import { roughMs } from './rough-time.js';

/**
 * Bricks are made at least this large, in {@link roughMs}: what a kernel finds in the caches is made by the kernels
 * before it, so that a brick's first kernel is measured a little off, and the less so the more follow it. Cheap to do,
 * because a small brick that repeats less costs little to measure anyway.
 */
const LEAST_ROUGH_MS = 1;

/** For each kernel, how many values made so far are still to be read by later ones. */
function liveValues(graph: LayerGraph): readonly number[] {
  const { lastUse } = lastUses(graph);
  const endings = new Map<number, number>();
  let live = 0;
  const isActivation = (name: string): boolean => graph.types.has(name) && !graph.constants.has(name);
  const start = (name: string): void => {
    const end = lastUse.get(name);
    if (end === undefined || !isActivation(name)) return;
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
 * The first of the least values from one index to another, both included, for windows whose ends never move back: linear
 * in the number of values, however large the windows are.
 */
function firstOfLeast(values: readonly number[]): (from: number, to: number) => number {
  // Of what has been seen, the indices that no later value undercuts; those before `head` have left the window.
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
 * Cuts a runtime's optimized graph where the fewest values cross: between residual blocks, inception modules, the halves
 * of a transformer layer. A repeated block thus becomes the same brick each time. Looks at most `granularity` kernels
 * ahead, takes the first of the best places after the brick has its least size, and cuts anyway at `granularity`. Linear
 * in the size of the graph.
 *
 * @param granularity the longest brick allowed, in kernels; 1 makes every kernel a brick
 */
export function cutAtFewestValues(graph: LayerGraph, granularity: number): readonly Sequence[] {
  requireGranularity(granularity);
  const bestPlace = firstOfLeast(liveValues(graph));
  const works = graph.layers.map((kernel) => roughMs(graph, kernel));
  const count = works.length;
  const sequences: Sequence[] = [];
  for (let first = 0; first < count;) {
    const end = Math.min(count, first + granularity) - 1;
    let large = first;
    let work = works[first] ?? 0;
    while (work < LEAST_ROUGH_MS && large < end) work += works[++large] ?? 0;
    const last = bestPlace(large, end);
    sequences.push({ first, last });
    first = last + 1;
  }
  return sequences;
}
