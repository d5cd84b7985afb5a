import type { NodeProto } from '../../generated/onnx/onnx.js';
import type { Node } from './model.js';
import { domainOf } from './opsets.js';
import { subgraphsOf } from './subgraphs.js';

/** A node as the file format has it, as a {@link Node}. */
export function nodeOf({ name, opType, domain, input, output, attribute }: NodeProto): Node {
  return { name, opType, domain: domainOf(domain), inputs: input, outputs: output, attributes: attribute };
}

/**
 * Nodes and those of their subgraphs, at any depth, each before its own subgraphs. A subgraph's node names the values
 * of the surrounding graphs as if they were its own.
 */
export function* nestedNodes(nodes: Iterable<Node>): Generator<Node> {
  for (const node of nodes) {
    yield node;
    for (const subgraph of subgraphsOf(node.attributes)) yield* nestedNodes(subgraph.node.map(nodeOf));
  }
}
