import { type LayerGraph, readNames } from '../../../src/plugin-api.js';
import { connectedWindows } from './connected-windows.js';

export interface Sequence {
  readonly first: number;
  /** Inclusive. */
  readonly last: number;
}

/** The second sequence reads an output of the first. */
export type Edge = readonly [from: number, to: number];

function findProducers(graph: LayerGraph): readonly (readonly number[])[] {
  const producer = new Map<string, number>();
  return graph.layers.map((layer, index) => {
    const producers = new Set(readNames(layer).flatMap((name) => producer.get(name) ?? []));
    for (const name of layer.outputs) producer.set(name, index);
    return [...producers];
  });
}

/**
 * FindModelSubgraphs and SplitModel (DLBricks, Li et al., ICPE 2020, algorithms 1 and 2): takes the next `granularity`
 * layers in topological order where they are one connected graph, else the first one alone. Such a window is a valid
 * model: every type is known, and no path between its layers leaves it.
 *
 * The paper lets the inclusive `end` run to Length + 1; here the last window is cut at the end.
 */
export function findModelSubgraphs(graph: LayerGraph, granularity: number): readonly Sequence[] {
  const isConnected = connectedWindows(findProducers(graph), granularity);
  const sequences: Sequence[] = [];
  for (let first = 0; first < graph.layers.length;) {
    const end = Math.min(first + granularity, graph.layers.length) - 1;
    const last = isConnected[first] === true ? end : first;
    sequences.push({ first, last });
    first = last + 1;
  }
  return sequences;
}

export function findEdges(graph: LayerGraph, sequences: readonly Sequence[]): readonly Edge[] {
  const sequenceOf = sequences.flatMap(({ first, last }, index) => new Array<number>(last - first + 1).fill(index));
  const edges: Edge[] = [];
  const seen = new Set<string>();
  for (const [layer, from] of findProducers(graph).entries()) {
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
