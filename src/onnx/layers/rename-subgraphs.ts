import type { AttributeProto, GraphProto, NodeProto, TensorProto, ValueInfoProto } from '../../generated/onnx/onnx.js';
import { normalizeDomain } from '../model/opsets.js';
import { mapSubgraphs, renameInfo, withoutSymbols } from '../model/subgraphs.js';

export interface Renaming {
  nameOf(value: string): string;
  freshName(): string;
}

/** Attributes in the order of their names, at any depth: their order in a file means nothing. */
export function sortedAttributes(attributes: readonly AttributeProto[]): AttributeProto[] {
  const sortedGraph = (graph: GraphProto): GraphProto => ({
    ...graph,
    node: graph.node.map((node) => ({ ...node, attribute: sortedAttributes(node.attribute) })),
  });
  return attributes.map((attribute) => mapSubgraphs(attribute, sortedGraph)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function anonymousAttributes(attributes: readonly AttributeProto[], renaming: Renaming): AttributeProto[] {
  return attributes.map((attribute) => ({
    ...mapSubgraphs(attribute, (graph) => anonymousGraph(graph, renaming)),
    docString: '',
    t: attribute.t && anonymousTensor(attribute.t),
    tensors: attribute.tensors.map(anonymousTensor),
    tp: attribute.tp && withoutSymbols(attribute.tp),
    typeProtos: attribute.typeProtos.map(withoutSymbols),
  }));
}

function anonymousTensor(tensor: TensorProto): TensorProto {
  return { ...tensor, name: '', docString: '' };
}

/** The renaming inside of a subgraph: its own values are named in the order of their first occurrence. */
function innerRenaming(graph: GraphProto, outer: Renaming): Renaming & { readonly own: ReadonlyMap<string, string> } {
  const isOwn = new Set([...graph.input, ...graph.initializer].map(({ name }) => name));
  for (const { output } of graph.node) for (const name of output) isOwn.add(name);
  const own = new Map<string, string>();
  return {
    own,
    freshName: () => outer.freshName(),
    nameOf(value) {
      if (value === '') return '';
      if (!isOwn.has(value)) return outer.nameOf(value);
      const name = own.get(value) ?? outer.freshName();
      own.set(value, name);
      return name;
    },
  };
}

function anonymousGraph(graph: GraphProto, outer: Renaming): GraphProto {
  const renaming = innerRenaming(graph, outer);
  const info = (value: ValueInfoProto): ValueInfoProto => renameInfo(value, (name) => renaming.nameOf(name));
  const input = graph.input.map(info);
  const node = graph.node.map((inner) => anonymousNode(inner, renaming));
  const output = graph.output.map(info);
  const tensors = new Map(graph.initializer.map((tensor) => [tensor.name, tensor]));
  const initializer = [...renaming.own].flatMap(([value, name]): TensorProto[] => {
    const tensor = tensors.get(value);
    return tensor === undefined ? [] : [{ ...tensor, name, docString: '' }];
  });
  // The runtime infers the types of inner values again.
  return { name: 'graph', docString: '', node, initializer, input, output, sparseInitializer: [], valueInfo: [] };
}

function anonymousNode(node: NodeProto, renaming: Renaming): NodeProto {
  return {
    ...node,
    name: '',
    docString: '',
    domain: normalizeDomain(node.domain),
    input: node.input.map((name) => renaming.nameOf(name)),
    attribute: anonymousAttributes(node.attribute, renaming),
    output: node.output.map((name) => renaming.nameOf(name)),
  };
}
