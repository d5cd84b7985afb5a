import { groupedBy, type Model } from '../../../src/plugin-api.js';

/**
 * For values that are quantized right away, their dequantized forms. Only those reach other layers: the value before
 * may lack an activation whose bounds are those of the quantized type.
 */
export function dequantizedNames({ graph }: Model): ReadonlyMap<string, string> {
  const inputs = graph.nodes.flatMap((node) => [...new Set(node.inputs)].map((name) => ({ name, node })));
  const readers = groupedBy(inputs, ({ name }) => name);
  const found = new Map<string, string>();
  for (const [name, reads] of readers) {
    const [{ node: quantize }] = reads;
    if (!reads.every(({ node }) => node.opType === 'QuantizeLinear')) continue;
    const back = readers.get(quantize.outputs[0] ?? '')?.find(({ node }) => node.opType === 'DequantizeLinear')?.node;
    if (back?.outputs[0] !== undefined && quantize.inputs[0] === name) found.set(name, back.outputs[0]);
  }
  return found;
}
