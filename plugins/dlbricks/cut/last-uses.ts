import { type LayerGraph, readNames } from '../../../src/plugin-api.js';

/** The index of the last layer that reads each value; Infinity for the model's outputs. */
export type LastUses = ReadonlyMap<string, number>;

export function lastUses(graph: LayerGraph): LastUses {
  const uses = new Map<string, number>();
  for (const [index, layer] of graph.layers.entries()) for (const name of readNames(layer)) uses.set(name, index);
  for (const name of graph.outputs) uses.set(name, Infinity);
  return uses;
}
