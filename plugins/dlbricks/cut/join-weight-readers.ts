import { type LayerGraph, sumOf } from '../../../src/plugin-api.js';
import type { Sequence } from './layer-cut.js';
import { readsLittleButWeights, roughMs, weightBytes } from './rough-time.js';

/** With a larger share of the model's weights, whole copies cannot match the model's footprint. */
const SHARE_THAT_COPIES_MISS = 1 / 4;

/**
 * Joins neighbours that mostly read large weights, such as the last layers of a VGG. How fast weights stream depends on
 * how much memory is in use, and no number of copies of a 150 MB layer makes the 240 MB of its model.
 */
export function joinWeightReaders(
  graph: LayerGraph,
  sequences: readonly Sequence[],
  granularity: number,
): readonly Sequence[] {
  const bytesOf = graph.layers.map((kernel) => weightBytes(graph, kernel));
  const large = sumOf(bytesOf) * SHARE_THAT_COPIES_MISS;
  const weighed = sequences.map(({ first, last }) => {
    const bytes = sumOf(bytesOf.slice(first, last + 1));
    const work = sumOf(graph.layers.slice(first, last + 1).map((kernel) => roughMs(graph, kernel)));
    return { first, last, bytes, reads: readsLittleButWeights(bytes, work) };
  });
  const joined: (typeof weighed)[number][] = [];
  for (const sequence of weighed) {
    const before = joined.at(-1);
    const areReaders = before !== undefined && before.reads && sequence.reads;
    if (areReaders && Math.max(before.bytes, sequence.bytes) > large && sequence.last - before.first < granularity) {
      joined[joined.length - 1] = { ...before, last: sequence.last, bytes: before.bytes + sequence.bytes };
    } else joined.push(sequence);
  }
  return joined.map(({ first, last }) => ({ first, last }));
}
