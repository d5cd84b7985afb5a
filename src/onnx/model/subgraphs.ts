import type { AttributeProto, GraphProto, TypeProto, ValueInfoProto } from '../../generated/onnx/onnx.js';
import { oncePer } from '../../base/once-per.js';
import type { Node } from './model.js';

export function listSubgraphs(attributes: readonly AttributeProto[]): readonly GraphProto[] {
  return attributes.flatMap(({ g, graphs }) => (g === undefined ? graphs : [g, ...graphs]));
}

export function hasSubgraphs({ attributes }: Pick<Node, 'attributes'>): boolean {
  return listSubgraphs(attributes).length > 0;
}

/** Outer values that a node's subgraphs use, in the order of their use. Source: ONNX IR, "Graphs", outer scopes. */
export function capturedNames(node: Pick<Node, 'attributes'>): readonly string[] {
  const found = new Set<string>();
  for (const subgraph of listSubgraphs(node.attributes)) for (const name of freeNames(subgraph)) found.add(name);
  return [...found];
}

/** Graphs do not change, and each is looked up once for every graph around it. */
const freeNames = oncePer((graph: GraphProto): ReadonlySet<string> => {
  const found = new Set<string>();
  addFreeNames(graph, found);
  return found;
});

/** Values that a node reads: its inputs, without absent ones, and the values that its subgraphs capture. */
export function readNames(node: Pick<Node, 'inputs' | 'attributes'>): readonly string[] {
  const captured = capturedNames(node);
  const given = node.inputs.filter((name) => name !== '');
  return captured.length === 0 ? given : [...given, ...captured];
}

function addFreeNames(graph: GraphProto, found: Set<string>): void {
  const own = new Set<string>(graph.input.map(({ name }) => name));
  for (const { name } of graph.initializer) own.add(name);
  for (const { output } of graph.node) for (const name of output) own.add(name);
  const use = (name: string): void => {
    if (name !== '' && !own.has(name)) found.add(name);
  };
  for (const { input, attribute } of graph.node) {
    input.forEach(use);
    capturedNames({ attributes: attribute }).forEach(use);
  }
  for (const { name } of graph.output) use(name);
}

export function mapSubgraphs(attribute: AttributeProto, change: (graph: GraphProto) => GraphProto): AttributeProto {
  const { g, graphs } = attribute;
  if (g === undefined && graphs.length === 0) return attribute;
  return { ...attribute, g: g === undefined ? undefined : change(g), graphs: graphs.map(change) };
}

export function renameInfo({ name, type }: ValueInfoProto, nameOf: (name: string) => string): ValueInfoProto {
  return { name: nameOf(name), type: type && withoutSymbols(type), docString: '' };
}

/** Renames values at any depth; all else loses its name. @param rename gets no empty name: that is an absent value */
export function renameSubgraphValues(attribute: AttributeProto, rename: (name: string) => string): AttributeProto {
  const renamed = (name: string): string => (name === '' ? '' : rename(name));
  const info = (value: ValueInfoProto): ValueInfoProto => renameInfo(value, renamed);
  return mapSubgraphs(attribute, (graph) => ({
    ...graph,
    name: 'subgraph',
    docString: '',
    input: graph.input.map(info),
    initializer: graph.initializer.map((tensor) => ({ ...tensor, name: renamed(tensor.name) })),
    node: graph.node.map((node) => ({
      ...node,
      name: '',
      docString: '',
      input: node.input.map(renamed),
      output: node.output.map(renamed),
      attribute: node.attribute.map((inner) => renameSubgraphValues(inner, rename)),
    })),
    output: graph.output.map(info),
    valueInfo: [],
  }));
}

/** A type without the names of its dimensions, which are the author's own. */
export function withoutSymbols({ value }: TypeProto): TypeProto {
  switch (value?.$case) {
    case undefined:
      return { denotation: '', value: undefined };
    case 'tensorType':
    case 'sparseTensorType': {
      const { elemType, shape } = value.value;
      const dim = shape?.dim.map(({ value: size }) => ({
        denotation: '',
        value: size?.$case === 'dimValue' ? size : undefined,
      }));
      return { denotation: '', value: { ...value, value: { elemType, shape: dim && { dim } } } };
    }
    case 'sequenceType':
    case 'optionalType': {
      const { elemType } = value.value;
      return { denotation: '', value: { ...value, value: { elemType: elemType && withoutSymbols(elemType) } } };
    }
    case 'mapType': {
      const { keyType, valueType } = value.value;
      const plain = { keyType, valueType: valueType && withoutSymbols(valueType) };
      return { denotation: '', value: { ...value, value: plain } };
    }
  }
}
