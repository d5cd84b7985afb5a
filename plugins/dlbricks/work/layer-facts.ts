import type { LayerGraph, Node, TracedLayer, TracedTensor } from '../../../src/plugin-api.js';

export interface LayerFacts extends Pick<
  TracedLayer,
  'operator' | 'signature' | 'attributes' | 'inputs' | 'outputs' | 'operations' | 'bytes'
> {
  /** Indices of the inputs that are not weights, where known: tables often leave weights out. */
  readonly activations?: readonly number[] | undefined;
  /** Domain of the operator, where known: the runtime's own operators may have the names of ONNX's. */
  readonly domain?: string | undefined;
  readonly name?: string | undefined;
}

type Attribute = Node['attributes'][number];

/** AttributeProto.AttributeType in the ONNX project's onnx.proto. */
const FLOAT = 1;
const INT = 2;
const STRING = 3;
const FLOATS = 6;
const INTS = 7;
const STRINGS = 8;

/** An attribute as a trace or a table would give it; a tensor or a graph only by its presence. */
function readAttribute(attribute: Attribute): unknown {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
  switch (Number(attribute.type)) {
    case FLOAT:
      return attribute.f;
    case INT:
      return Number(attribute.i);
    case STRING:
      return text(attribute.s);
    case FLOATS:
      return [...attribute.floats];
    case INTS:
      return attribute.ints.map(Number);
    case STRINGS:
      return attribute.strings.map(text);
    default:
      return { type: Number(attribute.type) };
  }
}

export function readLayerFacts(graph: LayerGraph, node: Node): LayerFacts {
  const tensors = (names: readonly string[]): TracedTensor[] =>
    names.flatMap((name) => {
      const type = graph.types.get(name) ?? graph.constants.get(name);
      return type === undefined ? [] : [{ elementType: type.elementType, dims: type.dims }];
    });
  const inputs = node.inputs.filter((name) => name !== '');
  return {
    operator: node.opType,
    domain: node.domain,
    name: node.name,
    attributes: Object.fromEntries(node.attributes.map((attribute) => [attribute.name, readAttribute(attribute)])),
    inputs: tensors(inputs),
    outputs: tensors(node.outputs),
    activations: inputs.flatMap((name, index) => (graph.constants.has(name) ? [] : [index])),
  };
}
