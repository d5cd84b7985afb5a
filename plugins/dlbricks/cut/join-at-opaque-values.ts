import type { LayerGraph } from '../../../src/plugin-api.js';
import { lastUses } from './last-uses.js';
import type { Sequence } from './layer-cut.js';

/**
 * Joins sequences where a value that is no tensor would pass between them: no brick can read or return a sequence, a
 * map or an optional value. A layer that makes only such values, which no layer reads, joins the sequence before it.
 */
export function joinAtOpaqueValues(graph: LayerGraph, sequences: readonly Sequence[]): readonly Sequence[] {
  if (graph.opaque.size === 0) return sequences;
  const lastUse = lastUses(graph);
  /** For each layer, the last one that has to be in the same sequence. */
  const reach = graph.layers.map(({ outputs }, layer) => {
    const ends = outputs.map((name) => (graph.opaque.has(name) ? (lastUse.get(name) ?? layer) : layer));
    return Math.max(layer, ...ends.filter(Number.isFinite));
  });
  const needsBefore = (layer: number): boolean => {
    const { outputs } = graph.layers[layer] ?? { outputs: [] };
    return layer > 0 && outputs.every((name) => graph.opaque.has(name)) && reach[layer] === layer;
  };
  const joined: Sequence[] = [];
  let open = -1;
  for (const { first, last } of sequences) {
    const before = joined.at(-1);
    const goesOn = before !== undefined && (first <= open || needsBefore(first));
    if (goesOn) joined[joined.length - 1] = { first: before.first, last };
    else joined.push({ first, last });
    for (let layer = first; layer <= last; layer++) open = Math.max(open, reach[layer] ?? layer);
  }
  return joined;
}
