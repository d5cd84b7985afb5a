import type { NodeProto } from '../../generated/onnx/onnx.js';
import type { Node } from './model.js';
import { normalizeDomain } from './opsets.js';
import { listSubgraphs } from './subgraphs.js';

export function convertNode({ name, opType, domain, input, output, attribute }: NodeProto): Node {
  return { name, opType, domain: normalizeDomain(domain), inputs: input, outputs: output, attributes: attribute };
}

/** Each node before those of its subgraphs, at any depth, which name surrounding values as if they were their own. */
export function* nestedNodes(nodes: Iterable<Node>): Generator<Node> {
  for (const node of nodes) {
    yield node;
    for (const subgraph of listSubgraphs(node.attributes)) yield* nestedNodes(subgraph.node.map(convertNode));
  }
}
