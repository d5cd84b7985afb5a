import { type LayerGraph, PlatformError, readNames } from '../../../src/plugin-api.js';
import { connectedWindows } from './connected-windows.js';

export interface Sequence {
  readonly first: number;
  /** Inclusive. */
  readonly last: number;
}

/** A sequence has at least one layer. @throws PlatformError `usage` */
export function requireGranularity(granularity: number): void {
  if (Number.isInteger(granularity) && granularity >= 1) return;
  throw new PlatformError('usage', `granularity: expected a whole number from 1, found ${granularity}`);
}

/** Edges between sequences, as indices into the list of sequences: one reads an output of the other. */
export type Edge = readonly [from: number, to: number];

/** For each layer the earlier layers whose outputs it reads, each once. */
function producersOf(graph: LayerGraph): readonly (readonly number[])[] {
  const producer = new Map<string, number>();
  return graph.layers.map((layer, index) => {
    const producers = new Set<number>();
    for (const name of readNames(layer)) {
      const from = producer.get(name);
      if (from !== undefined) producers.add(from);
    }
    for (const name of layer.outputs) producer.set(name, index);
    return [...producers];
  });
}

/**
 * FindModelSubgraphs and SplitModel (DLBricks, Li et al., ICPE 2020, algorithms 1 and 2): walks the layers in
 * topological order and takes the next `granularity` of them when they make a valid model; where they don't, the first
 * one alone, and the window moves on by one. Sequences never overlap and together hold every layer once.
 *
 * A window makes a valid model when it is one connected graph. Every window is runnable, since every type is known, and
 * no path between consecutive layers in topological order leaves the window.
 *
 * The paper's pseudo-code keeps `end` inclusive and lets it run to Length + 1; here the last window is cut at the end.
 *
 * @param granularity the longest sequence allowed, at least 1
 */
export function findModelSubgraphs(graph: LayerGraph, granularity: number): readonly Sequence[] {
  requireGranularity(granularity);
  const isConnected = connectedWindows(producersOf(graph), granularity);
  const sequences: Sequence[] = [];
  for (let first = 0; first < graph.layers.length;) {
    const end = Math.min(first + granularity, graph.layers.length) - 1;
    const last = isConnected[first] === true ? end : first;
    sequences.push({ first, last });
    first = last + 1;
  }
  return sequences;
}

export function edgesOf(graph: LayerGraph, sequences: readonly Sequence[]): readonly Edge[] {
  const sequenceOf = sequences.flatMap(({ first, last }, index) => new Array<number>(last - first + 1).fill(index));
  const edges: Edge[] = [];
  const seen = new Set<string>();
  for (const [layer, from] of producersOf(graph).entries()) {
    const to = sequenceOf[layer] ?? 0;
    for (const source of from.map((producer) => sequenceOf[producer] ?? 0)) {
      const key = `${source},${to}`;
      if (source === to || seen.has(key)) continue;
      seen.add(key);
      edges.push([source, to]);
    }
  }
  return edges;
}
