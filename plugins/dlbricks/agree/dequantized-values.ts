import type { Model, Node } from '../../../src/plugin-api.js';

/**
 * Names of values that are quantized right away, each with the name of its dequantized form. Only that form reaches other
 * layers: quantizers leave out an activation whose bounds are those of the quantized type, so that the value before it
 * is that of another layer in the graph of floats.
 */
export function dequantizedNames({ graph }: Model): ReadonlyMap<string, string> {
  const readers = new Map<string, Node[]>();
  for (const node of graph.nodes) {
    for (const input of new Set(node.inputs)) readers.set(input, [...(readers.get(input) ?? []), node]);
  }
  const found = new Map<string, string>();
  for (const [name, nodes] of readers) {
    const [quantize] = nodes;
    if (quantize === undefined || !nodes.every(({ opType }) => opType === 'QuantizeLinear')) continue;
    const back = readers.get(quantize.outputs[0] ?? '')?.find(({ opType }) => opType === 'DequantizeLinear');
    if (back?.outputs[0] !== undefined && quantize.inputs[0] === name) found.set(name, back.outputs[0]);
  }
  return found;
}
