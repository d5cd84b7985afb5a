import { float } from '../onnx/model/make-attributes.js';
import type { Node } from '../onnx/model/model.js';
import { normalizeDomain } from '../onnx/model/opsets.js';
import { standardNode } from '../onnx/model/standard-node.js';

/** Without a kernel in ONNX Runtime, whose profile then names no node after them. Source: bodies in Operators.md. */
const DEFINITIONS: ReadonlyMap<string, (node: Node) => readonly Node[]> = new Map([['HardSwish', hardSwish]]);

export function spelledOut(node: Node): readonly Node[] {
  const definition = normalizeDomain(node.domain) === '' ? DEFINITIONS.get(node.opType) : undefined;
  return definition?.(node) ?? [node];
}

function hardSwish({ name, inputs, outputs }: Node): readonly Node[] {
  const [x = ''] = inputs;
  const gate = `${name}_gate`;
  const attributes = [float('alpha', 1 / 6), float('beta', 0.5)];
  return [
    standardNode(`${name}.gate`, 'HardSigmoid', [x], [gate], attributes),
    standardNode(`${name}.product`, 'Mul', [x, gate], outputs),
  ];
}
