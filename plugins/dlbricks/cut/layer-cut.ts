import { type LayerGraph, readNames } from '../../../src/plugin-api.js';

/** Spreads indices over all 32-bit numbers, each once (Knuth's multiplicative hashing). */
function priorityOf(index: number): number {
  return Math.imul(index, 0x9e3779b1) >>> 0;
}

/** Of minimum weight. Parents have higher priority, so that trees stay about flat (Goel et al., SODA 2014). */
class SpanningForest {
  private readonly parent: Int32Array;
  private readonly weight: Float64Array;

  constructor(vertices: number) {
    this.parent = new Int32Array(vertices).fill(-1);
    this.weight = new Float64Array(vertices).fill(Infinity);
  }

  private top(vertex: number, weight: number): number {
    let top = vertex;
    while ((this.weight[top] ?? Infinity) <= weight) top = this.parent[top] ?? -1;
    return top;
  }

  /** @returns the weight of the edge that leaves the forest, perhaps this one's; undefined where none leaves */
  add(from: number, to: number, weight: number): number | undefined {
    for (;;) {
      from = this.top(from, weight);
      to = this.top(to, weight);
      if (from === to) return weight;
      if (priorityOf(from) > priorityOf(to)) [from, to] = [to, from];
      const displaced = this.parent[from] ?? -1;
      const displacedWeight = this.weight[from] ?? Infinity;
      this.parent[from] = to;
      this.weight[from] = weight;
      if (displaced < 0) return undefined;
      [to, weight] = [displaced, displacedWeight];
    }
  }
}

/**
 * Whether the window of `length` layers that starts at each layer is one connected graph, in n log n steps: windows go
 * from the last to the first, and an edge weighs as much as the layer that it leads to, so that the forest's edges up
 * to a window's end span it.
 *
 * @param producers the earlier layers that each layer reads, each once
 */
export function connectedWindows(producers: readonly (readonly number[])[], length: number): readonly boolean[] {
  const consumers: number[][] = producers.map(() => []);
  for (const [layer, from] of producers.entries()) for (const producer of from) consumers[producer]?.push(layer);

  const forest = new SpanningForest(producers.length);
  const edgesTo = new Int32Array(producers.length);
  const isConnected = new Array<boolean>(producers.length).fill(false);
  let edgesInside = 0;
  let end = producers.length - 1;
  for (let first = producers.length - 1; first >= 0; first--) {
    for (; end > first + length - 1; end--) edgesInside -= edgesTo[end] ?? 0;
    for (const layer of consumers[first] ?? []) {
      const count = (to: number, change: number): void => {
        edgesTo[to] = (edgesTo[to] ?? 0) + change;
        if (to <= end) edgesInside += change;
      };
      count(layer, 1);
      const spare = forest.add(first, layer, layer);
      if (spare !== undefined) count(spare, -1);
    }
    isConnected[first] = edgesInside === end - first;
  }
  return isConnected;
}

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
