import { type LayerGraph, readNames } from '../../../src/plugin-api.js';

/** For each value the index of the last layer that reads it; Infinity for the model's outputs. */
export type LastUses = ReadonlyMap<string, number>;

/** Built once per model, so that cutting all sequences stays linear. */
export function lastUses(graph: LayerGraph): LastUses {
  const uses = new Map<string, number>();
  for (const [index, layer] of graph.layers.entries()) for (const name of readNames(layer)) uses.set(name, index);
  for (const name of graph.outputs) uses.set(name, Infinity);
  return uses;
}
