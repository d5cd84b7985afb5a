import type { FunctionProto, GraphProto, NodeProto } from '../generated/onnx/onnx.js';
import { subgraphsOf } from './subgraphs.js';

// What parts of a graph take, in characters of names and the like: what copying them costs.

const SIZE_PER_NAME = 16;

function sizeOfNames(names: readonly string[]): number {
  return names.reduce((size, name) => size + SIZE_PER_NAME + name.length, SIZE_PER_NAME);
}

/** The node alone, without the nodes of its subgraphs. */
export function sizeOfNode({ name, input, output, attribute }: NodeProto): number {
  return sizeOfNames([name]) + sizeOfNames(input) + sizeOfNames(output) + attribute.length * SIZE_PER_NAME;
}

function sizeOfGraph({ input, output, initializer, node }: GraphProto): number {
  const names = [...input, ...output, ...initializer].map(({ name }) => name);
  return sizeOfNames(names) + sizeOfNodes(node);
}

function sizeOfNodes(nodes: readonly NodeProto[]): number {
  return nodes.reduce((size, node) => {
    const inner = subgraphsOf(node.attribute).reduce((sum, graph) => sum + sizeOfGraph(graph), 0);
    return size + sizeOfNode(node) + inner;
  }, 0);
}

export function sizeOfFunction({ input, output, attributeProto, opsetImport, node }: FunctionProto): number {
  const rest = (attributeProto.length + opsetImport.length) * SIZE_PER_NAME;
  return sizeOfNames(input) + sizeOfNames(output) + rest + sizeOfNodes(node);
}
