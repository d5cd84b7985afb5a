import { type LayerGraph, readNames } from '../../../src/plugin-api.js';

/** The index of the last layer that reads each value; Infinity for the model's outputs. */
export type LastUses = ReadonlyMap<string, number>;

export function lastUses(graph: LayerGraph): LastUses {
  const uses = new Map<string, number>();
  for (const [index, layer] of graph.layers.entries()) for (const name of readNames(layer)) uses.set(name, index);
  for (const name of graph.outputs) uses.set(name, Infinity);
  return uses;
}

/** The size of all values that are alive in each layer, and of those that later layers read. */
export function liveSizes(graph: LayerGraph, sizeOf: (name: string) => number) {
  const lastUse = lastUses(graph);
  const ending = new Map<number, number>();
  let live = 0;
  const start = (name: string): void => {
    const end = lastUse.get(name);
    if (end === undefined) return;
    const size = sizeOf(name);
    live += size;
    ending.set(end, (ending.get(end) ?? 0) + size);
  };
  for (const name of graph.inputs) start(name);
  return graph.layers.map(({ outputs }, index) => {
    for (const name of outputs) start(name);
    const during = live;
    live -= ending.get(index) ?? 0;
    return { during, after: live };
  });
}
