import { maxOf } from '../../base/long-lists.js';
import { sumOf } from '../../base/sum-of.js';
import { tensorBytes } from '../model/element-type.js';
import type { Node } from '../model/model.js';
import type { LayerGraph } from './layer-graph.js';

export interface MemoryNeed {
  readonly weightBytes: number;
  readonly valueBytes: number;
}

function valueBytes({ types }: LayerGraph, name: string): number {
  const type = types.get(name);
  return type === undefined ? 0 : tensorBytes(type);
}

function weightBytes({ constants }: LayerGraph, names: Iterable<string>): number {
  const weights = [...names].flatMap((name) => constants.get(name) ?? []);
  return sumOf(weights.map(tensorBytes));
}

/** The need of the layer that needs the most. A value without a type counts as nothing. */
export function largestLayer(graph: LayerGraph): MemoryNeed {
  const computeNeed = ({ inputs, outputs }: Node): MemoryNeed => {
    const values = new Set([...inputs, ...outputs]);
    return {
      weightBytes: weightBytes(graph, new Set(inputs)),
      valueBytes: sumOf([...values].map((name) => valueBytes(graph, name))),
    };
  };
  const total = ({ weightBytes: weights, valueBytes: values }: MemoryNeed): number => weights + values;
  return graph.layers
    .map(computeNeed)
    .reduce((most, need) => (total(need) > total(most) ? need : most), { weightBytes: 0, valueBytes: 0 });
}

/** The need of the whole graph: its weights, and the most values that are needed at a time. */
export function needOfGraph(graph: LayerGraph): MemoryNeed {
  const { layers, inputs, outputs } = graph;
  const lastUse = new Map<string, number>();
  for (const [index, { inputs: read }] of layers.entries()) for (const name of read) lastUse.set(name, index);
  const kept = new Set([...inputs, ...outputs]);
  let bytes = sumOf(inputs.map((name) => valueBytes(graph, name)));
  let most = bytes;
  for (const [index, layer] of layers.entries()) {
    const made = sumOf(layer.outputs.map((name) => valueBytes(graph, name)));
    const ending = [...new Set(layer.inputs)].filter((name) => lastUse.get(name) === index && !kept.has(name));
    const freed = ending.map((name) => valueBytes(graph, name));
    // A runtime may write a result over a value that ends here.
    most = Math.max(most, bytes + made - Math.min(made, Math.max(0, maxOf(freed))));
    const unread = layer.outputs.filter((name) => !lastUse.has(name) && !kept.has(name));
    bytes += made - sumOf(freed) - sumOf(unread.map((name) => valueBytes(graph, name)));
  }
  return { weightBytes: weightBytes(graph, graph.constants.keys()), valueBytes: most };
}
