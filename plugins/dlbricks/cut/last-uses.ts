import { type LayerGraph, readNames } from '../../../src/plugin-api.js';

/** Finds whether a layer's outputs are read outside of a window; built once per model. */
export interface LastUses {
  /** Index of the last layer that reads a value; Infinity for the model's outputs. */
  readonly lastUse: ReadonlyMap<string, number>;
}

/** Indexes where each value is last read, so that cutting all sequences stays linear. */
export function lastUses(graph: LayerGraph): LastUses {
  const lastUse = new Map<string, number>();
  for (const [index, layer] of graph.layers.entries()) for (const name of readNames(layer)) lastUse.set(name, index);
  for (const name of graph.outputs) lastUse.set(name, Infinity);
  return { lastUse };
}
