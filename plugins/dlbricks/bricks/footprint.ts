import { GATHERING, type LayerGraph, type Node, readNames, sumOf, tensorBytes } from '../../../src/plugin-api.js';
import { liveSizes } from '../cut/last-uses.js';

function outputBytes(graph: LayerGraph, { outputs }: Node): number {
  return sumOf(outputs.flatMap((name) => graph.types.get(name) ?? []).map(tensorBytes));
}

function constantBytes(graph: LayerGraph): number {
  const read = new Map<string, number>();
  for (const layer of graph.layers) {
    for (const name of readNames(layer)) {
      const constant = graph.constants.get(name);
      if (constant === undefined) continue;
      const all = tensorBytes(constant);
      const isPart = name === layer.inputs[0] && GATHERING.has(layer.opType);
      const touched = isPart ? Math.min(all, outputBytes(graph, layer)) : all;
      read.set(name, Math.max(touched, read.get(name) ?? 0));
    }
  }
  return sumOf(read.values());
}

/** Most bytes that are alive at a time: what a runtime's arena needs at least. */
function liveBytes(graph: LayerGraph): number {
  const live = liveSizes(graph, (name) => {
    const type = graph.types.get(name);
    return type === undefined ? 0 : tensorBytes(type);
  });
  return live.reduce((most, { during }) => Math.max(most, during), 0);
}

/** Bytes that one run touches: what passes through the caches between two uses of the same weight. */
export function computeFootprint(graph: LayerGraph): number {
  return constantBytes(graph) + liveBytes(graph);
}
