import { append } from '../base/long-lists.js';
import { type GraphProto, NodeProto, type ValueInfoProto } from '../generated/onnx/onnx.js';
import type { BenchmarkInput } from '../measurement/benchmark.js';
import { readType } from '../onnx/model/declared-type.js';
import {
  ELEMENT_TYPES,
  type ElementType,
  elementTypeOfCode,
  isElementType,
  isPacked,
  UNPACKED,
} from '../onnx/model/element-type.js';
import { int } from '../onnx/model/make-attributes.js';
import { toTypeProto } from '../onnx/write/write-model.js';

// The runtime's JavaScript bindings take and return only tensors of common element types. An input of another type is
// fed as float32 and cast inside the graph; such an output is returned as float32, or only its shape is returned.

/** Their output has another element type than their inputs. */
const CONVERTING: ReadonlySet<string> = new Set(
  (
    'ArgMax ArgMin Cast CastLike DequantizeLinear Equal GatherBlockQuantized Greater GreaterOrEqual IsInf IsNaN Less ' +
    'LessOrEqual MatMulNBits NonZero QuantizeLinear Shape Size'
  ).split(' '),
);

const PREFIX = 'dlbricks.shape.';

/** undefined for an output that is a value itself. */
export function shapedValue(output: string): { readonly name: string; readonly elementType: ElementType } | undefined {
  if (!output.startsWith(PREFIX)) return undefined;
  const at = output.indexOf('.', PREFIX.length);
  const elementType = output.slice(PREFIX.length, at);
  return at < 0 || !isElementType(elementType) ? undefined : { name: output.slice(at + 1), elementType };
}

function crosses(elementType: ElementType): boolean {
  return ELEMENT_TYPES[elementType].fed;
}

function statedType({ opType, input, attribute }: NodeProto, typeOf: (name: string) => ElementType | undefined) {
  const number = (name: string): ElementType | undefined => {
    const found = attribute.find((candidate) => candidate.name === name);
    return found === undefined ? undefined : elementTypeOfCode(Number(found.i));
  };
  if (opType === 'Cast') return number('to');
  if (opType === 'CastLike') return typeOf(input[1] ?? '');
  return opType === 'QuantizeLinear' ? (typeOf(input[2] ?? '') ?? number('output_dtype')) : undefined;
}

/** The values that the bindings do not take or return. @param weights further inputs, which will be initializers */
function staying(graph: GraphProto, weights: readonly BenchmarkInput[]): ReadonlyMap<string, ElementType> {
  const types = new Map<string, ElementType>();
  const note = (name: string, type: ElementType | undefined): void => {
    if (name !== '' && type !== undefined && !crosses(type)) types.set(name, type);
  };
  const declared = new Set<string>();
  for (const info of [...graph.input, ...graph.valueInfo, ...graph.output]) {
    const type = readType(info.type).type?.elementType;
    if (type !== undefined) declared.add(info.name);
    note(info.name, type);
  }
  for (const { name, dataType } of graph.initializer) note(name, elementTypeOfCode(dataType));
  for (const { name, elementType } of weights) note(name, elementType);
  const typeOf = (name: string): ElementType | undefined => types.get(name);
  for (const node of graph.node) {
    const passed = node.input.map(typeOf).find((type) => type !== undefined);
    const type = CONVERTING.has(node.opType) ? statedType(node, typeOf) : passed;
    for (const name of node.output) if (!declared.has(name)) note(name, type);
  }
  return types;
}

export function isFedAsFloat({ role, elementType }: BenchmarkInput): boolean {
  return role === 'activation' && elementType !== 'string' && !crosses(elementType);
}

export function fedName({ name }: BenchmarkInput): string {
  return `dlbricks.fed.${name}`;
}

const cast = (from: string, to: string, elementType: ElementType): NodeProto => {
  const attribute = [int('to', ELEMENT_TYPES[elementType].code)];
  return { ...NodeProto.create(), opType: 'Cast', input: [from], output: [to], attribute };
};

function fedAsFloat(graph: GraphProto, inputs: readonly BenchmarkInput[]): GraphProto {
  const fed = inputs.filter(isFedAsFloat);
  if (fed.length === 0) return graph;
  const names = new Set(fed.map(({ name }) => name));
  const asFloats = fed.map((input): ValueInfoProto => {
    return { name: fedName(input), docString: '', type: toTypeProto({ elementType: 'float32', dims: input.dims }) };
  });
  const casts = fed.map((input) => cast(fedName(input), input.name, input.elementType));
  const input = [...graph.input.filter(({ name }) => !names.has(name)), ...asFloats];
  return { ...graph, input, node: [...casts, ...graph.node] };
}

export interface Returned {
  readonly name: string;
  readonly elementType: ElementType;
  readonly nodes: readonly NodeProto[];
}

/** Only graphs that are not optimized return it: an optimizer removes a Shape whose result it knows. */
export function returnShape(value: string, elementType: ElementType): Returned {
  const name = `${PREFIX}${elementType}.${value}`;
  const shape = (input: string): NodeProto => ({
    ...NodeProto.create(),
    opType: 'Shape',
    input: [input],
    output: [name],
  });
  const wide = `${name}.wide`;
  const nodes = isPacked(elementType) ? [cast(value, wide, UNPACKED), shape(wide)] : [shape(value)];
  return { name, elementType: 'int64', nodes };
}

const RETURNED = 'dlbricks.returned.';

export function returnedValue(output: string): string {
  return output.startsWith(RETURNED) ? output.slice(RETURNED.length) : output;
}

function returnAsFloat(value: string): Returned {
  const name = `${RETURNED}${value}`;
  return { name, elementType: 'float32', nodes: [cast(value, name, 'float32')] };
}

/**
 * The graph with inputs that can all be fed and outputs that can all be returned.
 *
 * @param graph without its weights
 * @param shapesOnly returns the shape of a value that cannot be returned, instead of the value as floats
 */
export function withCrossingEnds(
  graph: GraphProto,
  inputs: readonly BenchmarkInput[],
  { shapesOnly }: { readonly shapesOnly: boolean },
): GraphProto {
  const stays = staying(graph, inputs);
  const nodes: NodeProto[] = [];
  const output = graph.output.map((info): ValueInfoProto => {
    const type = stays.get(info.name);
    if (type === undefined) return info;
    const returned = shapesOnly ? returnShape(info.name, type) : returnAsFloat(info.name);
    append(nodes, returned.nodes);
    const typeProto = toTypeProto({ elementType: returned.elementType, dims: undefined });
    return { name: returned.name, docString: '', type: typeProto };
  });
  const fed = fedAsFloat(graph, inputs);
  return { ...fed, node: [...fed.node, ...nodes], output };
}
