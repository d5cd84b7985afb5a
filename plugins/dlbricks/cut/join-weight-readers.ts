import type { LayerGraph } from '../../../src/plugin-api.js';
import type { Sequence } from './layer-cut.js';
import { readsLittleButWeights, roughMs, weightBytes } from './rough-time.js';

/** Whole copies of a brick with more than this share of its model's weights cannot match the model's footprint. */
const SHARE_THAT_COPIES_MISS = 1 / 4;

/**
 * Joins neighbours that spend most of their time reading large weights: the fully connected layers at the end of an
 * AlexNet or a VGG. How fast weights stream from memory depends on how much memory is in use (the reach of caches and
 * of the processor's page tables), and no number of copies of a 150 MB layer makes the 240 MB of its model. The joined
 * layers have that size.
 *
 * @param granularity the longest brick allowed, in kernels
 */
export function joinWeightReaders(
  graph: LayerGraph,
  sequences: readonly Sequence[],
  granularity: number,
): readonly Sequence[] {
  const bytesOf = graph.layers.map((kernel) => weightBytes(graph, kernel));
  const large = bytesOf.reduce((sum, bytes) => sum + bytes, 0) * SHARE_THAT_COPIES_MISS;
  const weighed = sequences.map(({ first, last }) => {
    const bytes = bytesOf.slice(first, last + 1).reduce((sum, value) => sum + value, 0);
    const work = graph.layers.slice(first, last + 1).reduce((sum, kernel) => sum + roughMs(graph, kernel), 0);
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
