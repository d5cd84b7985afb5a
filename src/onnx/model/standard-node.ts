import type { Node } from './model.js';

/** A node of ai.onnx. */
export function standardNode(
  name: string,
  opType: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: Node['attributes'] = [],
): Node {
  return { name, opType, domain: '', inputs, outputs, attributes };
}
