import type { AttributeProto, GraphProto, TensorProto } from '../../generated/onnx/onnx.js';
import { NodeProto as NodeMessage } from '../../generated/onnx/onnx.js';
import { constantTensor, isConstant } from '../read/constant-node.js';
import { type ElementType, elementTypeOfCode } from '../model/element-type.js';
import type { Graph, Model, Tensor } from '../model/model.js';
import { nestedNodes, convertNode } from '../model/nested-nodes.js';
import { steeringConstants } from '../operators/steering.js';
import { hasSubgraphs, mapSubgraphs, listSubgraphs } from '../model/subgraphs.js';

type HoistedNames = ReadonlyMap<string, string>;

function loadedTensor({ dataType, dims, rawData }: TensorProto): Tensor {
  // The reader refuses a type that it does not know. Texts, which are not here, always steer, and so stay.
  const elementType = elementTypeOfCode(dataType) as ElementType;
  return { elementType, dims: dims.map(Number), data: { kind: 'inline', bytes: rawData } };
}

function namesIn({ nodes, inputs }: Graph): Set<string> {
  const names = new Set(inputs);
  for (const node of nestedNodes(nodes)) {
    for (const name of [...node.inputs, ...node.outputs]) names.add(name);
    for (const { input, initializer } of listSubgraphs(node.attributes)) {
      for (const { name } of [...input, ...initializer]) names.add(name);
    }
  }
  return names;
}

class Hoister {
  readonly hoisted = new Map<string, Tensor>();
  readonly #source: string;
  readonly #taken: Set<string>;
  #count = 0;

  constructor({ source, graph }: Model) {
    this.#source = source;
    this.#taken = namesIn(graph);
  }

  attributes(attributes: readonly AttributeProto[], names: HoistedNames): AttributeProto[] {
    return attributes.map((attribute) => mapSubgraphs(attribute, (graph) => this.#subgraph(graph, names)));
  }

  #subgraph(graph: GraphProto, outer: HoistedNames): GraphProto {
    const weights = this.#collectWeights(graph);
    const names = new Map(outer);
    for (const { name } of [...graph.input, ...graph.initializer]) names.delete(name);
    for (const [name, tensor] of weights) names.set(name, this.#hoist(tensor));
    const nameOf = (name: string): string => names.get(name) ?? name;
    return {
      ...graph,
      initializer: graph.initializer.filter(({ name }) => !weights.has(name)),
      node: [
        ...graph.node
          .filter((node) => !isConstant(node) || !weights.has(node.output[0] ?? ''))
          .map((node) => ({
            ...node,
            input: node.input.map(nameOf),
            attribute: this.attributes(node.attribute, names),
          })),
        // A runtime does not accept a value of a surrounding graph as a subgraph's output. Source:
        // https://github.com/microsoft/onnxruntime/pull/11638
        ...graph.output
          .filter(({ name }) => weights.has(name))
          .map(({ name }) => ({ ...NodeMessage.create(), opType: 'Identity', input: [nameOf(name)], output: [name] })),
      ],
    };
  }

  /** Constants of this subgraph that do not steer an operator, without those of nested subgraphs. */
  #collectWeights(graph: GraphProto): ReadonlyMap<string, Tensor> {
    const constants = new Map<string, Tensor>();
    for (const tensor of graph.initializer) constants.set(tensor.name, loadedTensor(tensor));
    for (const node of graph.node.filter(isConstant)) {
      const tensor = constantTensor(node, { source: { name: this.#source }, read: loadedTensor });
      constants.set(node.output[0] ?? '', tensor);
    }
    // The empty name stands for an absent value, so nothing reads it.
    constants.delete('');
    // An initializer that is an input as well is only the default of the input.
    for (const { name } of graph.input) constants.delete(name);
    const steering = steeringConstants({ nodes: graph.node.map(convertNode), initializers: constants });
    for (const name of steering) constants.delete(name);
    return constants;
  }

  #hoist(tensor: Tensor): string {
    let name = '';
    do name = `subgraph_weight_${this.#count++}`;
    while (this.#taken.has(name));
    this.hoisted.set(name, tensor);
    return name;
  }
}

/**
 * Makes weights in subgraphs initializers of the model's graph. Those that steer (steering.ts) stay. @throws 'model'
 */
export function hoistSubgraphWeights(model: Model): Model {
  const { graph } = model;
  if (!graph.nodes.some(hasSubgraphs)) return model;
  const hoister = new Hoister(model);
  const nodes = graph.nodes.map((node) => ({ ...node, attributes: hoister.attributes(node.attributes, new Map()) }));
  return { ...model, graph: { ...graph, nodes, initializers: new Map([...graph.initializers, ...hoister.hoisted]) } };
}
