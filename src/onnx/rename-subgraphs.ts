import type { AttributeProto, GraphProto, NodeProto, TensorProto, ValueInfoProto } from '../generated/onnx/onnx.js';

type Rename = (value: string) => string;

function renamedInfo(info: ValueInfoProto, rename: Rename): ValueInfoProto {
  return { ...info, name: rename(info.name), docString: '' };
}

function renamedGraph(graph: GraphProto, rename: Rename): GraphProto {
  return {
    name: 'graph',
    docString: '',
    node: graph.node.map((node) => renamedNode(node, rename)),
    initializer: graph.initializer.map((tensor) => ({ ...tensor, name: rename(tensor.name), docString: '' })),
    sparseInitializer: graph.sparseInitializer,
    input: graph.input.map((info) => renamedInfo(info, rename)),
    output: graph.output.map((info) => renamedInfo(info, rename)),
    // Types of inner values are for the runtime to find again.
    valueInfo: [],
  };
}

function renamedNode(node: NodeProto, rename: Rename): NodeProto {
  const renamed = (name: string): string => (name === '' ? '' : rename(name));
  return {
    ...node,
    name: '',
    docString: '',
    input: node.input.map(renamed),
    output: node.output.map(renamed),
    attribute: canonicalAttributes(node.attribute, rename),
  };
}

/**
 * Attributes in the order of their names, with every value name inside their graphs replaced and everything else that
 * is only a name or a comment removed.
 */
export function canonicalAttributes(attributes: readonly AttributeProto[], rename: Rename): AttributeProto[] {
  const anonymous = (tensor: TensorProto): TensorProto => ({ ...tensor, name: '', docString: '' });
  return attributes
    .map((attribute) => ({
      ...attribute,
      docString: '',
      t: attribute.t === undefined ? undefined : anonymous(attribute.t),
      tensors: attribute.tensors.map(anonymous),
      g: attribute.g === undefined ? undefined : renamedGraph(attribute.g, rename),
      graphs: attribute.graphs.map((graph) => renamedGraph(graph, rename)),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
