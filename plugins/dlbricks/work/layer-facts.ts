import {
  type LayerGraph,
  type Node,
  type TensorType,
  type TracedLayer,
  type TracedTensor,
  computeByteLength,
  elementCount,
  findSteeringValues,
  isElementType,
  multiplyAccumulates,
  ownValue,
  sumOf,
} from '../../../src/plugin-api.js';

export interface LayerFacts extends Pick<
  TracedLayer,
  'operator' | 'signature' | 'attributes' | 'inputs' | 'outputs' | 'operations' | 'bytes'
> {
  /** Indices of the inputs that are not weights, where known: tables often leave weights out. */
  readonly activations?: readonly number[] | undefined;
  /** Domain of the operator, where known: the runtime's own operators may have the names of ONNX's. */
  readonly domain?: string | undefined;
  readonly name?: string | undefined;
  /** Whether given values, or those of a run, decide its work, so that its shapes do not tell how long it takes. */
  readonly isSteered?: boolean | undefined;
}

/** The sizes of its outputs say how much work most operators did, but not how many boxes were compared. */
const COMPARING = 'NonMaxSuppression';

function isSteered({ given, ofRun, constants }: LayerGraph, node: Node): boolean {
  return findSteeringValues(node).some(({ name, aspect, decides }) => {
    const isKnown = given?.has(name) === true || ofRun?.values.has(name) === true;
    const isOfWork = decides !== 'sizes' || node.opType === COMPARING;
    return aspect === 'content' && isOfWork && isKnown && !constants.has(name);
  });
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

/** An output may be a constant of the graph. Values that are no tensors have no type. */
export function typesOf({ types, constants }: LayerGraph, names: readonly string[]): readonly TensorType[] {
  return names.flatMap((name): readonly TensorType[] => {
    const type = types.get(name) ?? constants.get(name);
    return type === undefined ? [] : [{ elementType: type.elementType, dims: type.dims }];
  });
}

export function readLayerFacts(graph: LayerGraph, node: Node): LayerFacts {
  const inputs = node.inputs.filter((name) => name !== '');
  return {
    operator: node.opType,
    domain: node.domain,
    name: node.name,
    attributes: Object.fromEntries(node.attributes.map((attribute) => [attribute.name, readAttribute(attribute)])),
    inputs: typesOf(graph, inputs),
    outputs: typesOf(graph, node.outputs),
    activations: inputs.flatMap((name, index) => (graph.constants.has(name) ? [] : [index])),
    ...(isSteered(graph, node) && { isSteered: true }),
  };
}

/** Work beyond this comes from impossible shapes and is ignored. */
const MAX_WORK = 1e24;

/** For tensors with an unknown element type. */
const BYTES_PER_ELEMENT = 4;

function countBytes({ elementType, dims }: TracedTensor): number {
  const count = elementCount(dims);
  return elementType !== undefined && isElementType(elementType)
    ? computeByteLength(elementType, count)
    : BYTES_PER_ELEMENT * count;
}

/** What frameworks call the operators that multiply, by a part of their name; the first match counts. */
const FOREIGN_NAMES: readonly (readonly [RegExp, string])[] = [
  [/convtranspose|conv_transpose|deconv/i, 'ConvTranspose'],
  [/conv/i, 'Conv'],
  [/gemm|matmul|linear|addmm|fullyconnected|dense/i, 'MatMul'],
];

/** Multiply-accumulates of a layer, also by another name of its operator; 0 where they are not known. */
export function countMultiplyAccumulates({ operator, attributes, inputs = [], outputs = [] }: LayerFacts): number {
  const shapes = (tensors: readonly TracedTensor[]): (readonly number[])[] => tensors.map(({ dims }) => dims);
  const integer = (name: string): number | undefined => {
    const value = ownValue(attributes ?? {}, name);
    return typeof value === 'number' ? value : undefined;
  };
  const sized = { operator, inputs: shapes(inputs), outputs: shapes(outputs), integer };
  const known = multiplyAccumulates(sized);
  const [, meant] = known === 0 ? (FOREIGN_NAMES.find(([name]) => name.test(operator)) ?? []) : [];
  return (meant === undefined ? known : multiplyAccumulates({ ...sized, operator: meant })) ?? 0;
}

/**
 * The work of a layer, which its time depends on; operations are 0 where they are not known, or no more than one for
 * each element moved.
 *
 * @returns undefined where neither its bytes nor its shapes at both ends are known,
 *   or the work is impossibly large.
 */
export function countWork(facts: LayerFacts) {
  const { inputs, outputs } = facts;
  const tensors = inputs === undefined || outputs === undefined ? [] : [...inputs, ...outputs];
  const moved = sumOf(tensors.map(countBytes));
  const bytes = facts.bytes ?? (tensors.length === 0 ? undefined : moved);
  const operations = facts.operations ?? 2 * countMultiplyAccumulates(facts);
  if (bytes === undefined || !(Math.max(moved, bytes, operations) <= MAX_WORK)) return undefined;
  return { operations, bytes };
}
