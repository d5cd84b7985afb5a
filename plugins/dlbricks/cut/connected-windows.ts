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
