import { float } from '../onnx/model/make-attributes.js';
import type { Node } from '../onnx/model/model.js';
import { domainOf } from '../onnx/model/opsets.js';

/**
 * Operators for which ONNX Runtime has no kernel. It executes the nodes of the operator's definition, and its profile
 * names none of them after the operator. If the graph contains these nodes from the beginning, they have names. Source:
 * the operators' function bodies in ONNX's Operators.md.
 */
const DEFINITIONS: ReadonlyMap<string, (node: Node) => readonly Node[]> = new Map([['HardSwish', hardSwish]]);

/** The nodes that the runtime executes for this one: itself, or its definition. */
export function spelledOut(node: Node): readonly Node[] {
  const definition = domainOf(node.domain) === '' ? DEFINITIONS.get(node.opType) : undefined;
  return definition?.(node) ?? [node];
}

function hardSwish({ name, inputs, outputs }: Node): readonly Node[] {
  const [x = ''] = inputs;
  const gate = `${name}_gate`;
  const attributes = [float('alpha', 1 / 6), float('beta', 0.5)];
  return [
    { name: `${name}.gate`, opType: 'HardSigmoid', domain: '', inputs: [x], outputs: [gate], attributes },
    { name: `${name}.product`, opType: 'Mul', domain: '', inputs: [x, gate], outputs, attributes: [] },
  ];
}
