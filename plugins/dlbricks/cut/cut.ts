import { type LayerGraph, maxOf } from '../../../src/plugin-api.js';
import { cutAtFewestValues } from './kernel-cut.js';
import { findModelSubgraphs, type Sequence } from './layer-cut.js';
import { lastUses } from './last-uses.js';

/** At the author's layers, or at the kernels that a runtime executes. */
export const CUTS = ['kernel', 'layer'] as const;

export type Cut = (typeof CUTS)[number];

/** @param granularity longest sequence, in layers or kernels */
export function cutSequences(graph: LayerGraph, cut: Cut, granularity: number): readonly Sequence[] {
  const sequences = cut === 'kernel' ? cutAtFewestValues(graph, granularity) : findModelSubgraphs(graph, granularity);
  return joinAtOpaqueValues(graph, sequences);
}

/** No brick reads or returns a value that is no tensor. A layer of such values that none reads joins the one before. */
export function joinAtOpaqueValues(graph: LayerGraph, sequences: readonly Sequence[]): readonly Sequence[] {
  if (graph.opaque.size === 0) return sequences;
  const lastUse = lastUses(graph);
  /** The last layer that has to be in the same sequence. */
  const reach = graph.layers.map(({ outputs }, layer) => {
    const ends = outputs.map((name) => (graph.opaque.has(name) ? (lastUse.get(name) ?? layer) : layer));
    return Math.max(layer, maxOf(ends.filter(Number.isFinite)));
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
