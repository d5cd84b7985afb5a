import { groupedBy } from '../../base/grouped-by.js';
import { findStaticType } from '../model/static-type.js';
import { elementCount, ELEMENT_TYPES } from '../model/element-type.js';
import { fittingValues } from './fitting/fitting-values.js';
import { integerAttribute, type OperatorUse } from './fitting/operator-use.js';
import { readIntegers } from '../model/integers-of.js';
import { listedValues } from '../model/listed-values.js';
import type { Graph, InputValues, Node, TensorType } from '../model/model.js';
import { nestedNodes } from '../model/nested-nodes.js';
import { tableOfNames } from '../../base/table-of-names.js';
import { quantizationInputs } from '../operators/quantization-inputs.js';
import { quantizationScales } from './quantization-scales.js';

type Range = Pick<InputValues, 'low' | 'high'>;

export interface Use {
  readonly node: Node;
  readonly index: number;
}

const SIGNED: Range = { low: -1, high: 1 };
const NEAR_ONE: Range = { low: 0.9, high: 1.1 };
const SMALL: Range = { low: -0.1, high: 0.1 };
const POSITIVE: Range = { low: 0.5, high: 1.5 };
const DIVISOR: Range = { low: 1, high: 3 };

/** Ranges, by operator and input, inside the operator's domain. The default is {@link SIGNED}. */
const RANGES = tableOfNames<Readonly<Record<number, Range>>>({
  BatchNormalization: { 1: NEAR_ONE, 2: SMALL, 3: SMALL, 4: NEAR_ONE },
  Div: { 1: POSITIVE },
  'GroupNormalization InstanceNormalization LayerNormalization': { 1: NEAR_ONE, 2: SMALL },
  'Log Pow Reciprocal Sqrt': { 0: POSITIVE },
});

/** Operators that pass their first input's values on, so that a reader of their output reads the input. */
const PASSING_ON = new Set([
  'Cast',
  'Clip',
  'Expand',
  'Flatten',
  'Identity',
  'Reshape',
  'Squeeze',
  'Transpose',
  'Unsqueeze',
]);

/** Operators whose second input holds positions along one axis of the first. */
const ALONG_ONE_AXIS = new Set(['Gather', 'GatherElements', 'Scatter', 'ScatterElements']);

/** Operators whose second input holds positions along several axes of the first. */
const ALONG_ALL_AXES = new Set(['GatherND', 'ScatterND']);

const DIVISIONS = new Set(['Div', 'Mod']);

/** Most {@link PASSING_ON} operators through which a value is followed to the operator that uses it. */
const MAX_STEPS = 8;

const FAN_IN = tableOfNames<(dims: readonly number[], node: Node) => number | undefined>({
  'Conv FusedConv': (dims) => elementCount(dims.slice(1)),
  ConvTranspose: ([inputs = 1, , ...kernel]) => inputs * elementCount(kernel),
  'MatMul FusedMatMul': (dims) => dims.at(-2) ?? dims.at(-1),
  'Gemm FusedGemm': (dims, node) => (integerAttribute(node, 'transB', 0) === 1 ? dims[1] : dims[0]),
  'LSTM GRU RNN': (dims) => dims.at(-1),
});

/** Number of products that are summed for one output element; undefined where the operator sums none. */
export function fanIn({ node, index }: Use, { dims }: TensorType): number | undefined {
  return index === 1 ? FAN_IN.get(node.opType)?.(dims, node) : undefined;
}

/** Weights as He et al. (2015) initialize them, so that values keep their order of magnitude through a network. */
function weightRange(use: Use, type: TensorType): Range | undefined {
  const summed = fanIn(use, type);
  if (summed === undefined || summed <= 0) return undefined;
  const bound = Math.sqrt(6 / summed);
  return { low: -bound, high: bound };
}

function below(size: number | undefined): Range | undefined {
  return size === undefined ? undefined : { low: 0, high: Math.max(0, size - 1) };
}

/** Follows a value through {@link PASSING_ON} operators to the first operator for which something is found. */
function follow<Found>(
  use: Use,
  type: TensorType,
  graph: TypedGraph,
  find: (use: Use, type: TensorType, graph: TypedGraph) => Found | undefined,
  steps = MAX_STEPS,
): Found | undefined {
  const { node, index } = use;
  if (PASSING_ON.has(node.opType) && index === 0 && steps > 0) {
    const [passed = ''] = node.outputs;
    const passedType = graph.typeOf(passed) ?? type;
    for (const next of graph.uses.get(passed) ?? []) {
      const found = follow(next, passedType, graph, find, steps - 1);
      if (found !== undefined) return found;
    }
  }
  return find(use, type, graph);
}

/** Valid indices where the value is an index. */
function indexRange({ node, index }: Use, _: TensorType, graph: TypedGraph): Range | undefined {
  if (index !== 1) return undefined;
  const dims = graph.typeOf(node.inputs[0] ?? '')?.dims;
  if (ALONG_ONE_AXIS.has(node.opType)) return below(dims?.at(integerAttribute(node, 'axis', 0)));
  if (ALONG_ALL_AXES.has(node.opType)) return below(dims?.toSorted((a, b) => a - b)[0]);
  return undefined;
}

export interface TypedGraph {
  readonly uses: ReadonlyMap<string, readonly Use[]>;
  readonly scales: ReadonlyMap<string, number>;
  typeOf(name: string): TensorType | undefined;
  /** Values of a small constant of integers. */
  constantOf(name: string): readonly number[] | undefined;
}

export function typedGraph(graph: Graph): TypedGraph {
  const all = [...nestedNodes(graph.nodes)].flatMap((node) => node.inputs.map((_, index): Use => ({ node, index })));
  const uses = groupedBy(all, ({ node, index }) => node.inputs[index] ?? '');
  const typeOf = (name: string): TensorType | undefined => {
    return findStaticType(graph.initializers.get(name) ?? graph.types.get(name));
  };
  const constantOf = (name: string): readonly number[] | undefined => readIntegers(graph.initializers.get(name));
  return { uses, scales: quantizationScales(graph), typeOf, constantOf };
}

/** Fits other inputs and outputs (fitting/). */
function fitting({ node, index }: Use, type: TensorType, graph: TypedGraph): InputValues | undefined {
  const dimsOf = (name: string | undefined): readonly number[] | undefined => graph.typeOf(name ?? '')?.dims;
  const use: OperatorUse = {
    node,
    count: elementCount(type.dims),
    own: type.dims,
    input: (at) => dimsOf(node.inputs[at]),
    output: (at) => dimsOf(node.outputs[at]),
    constant: (at) => graph.constantOf(node.inputs[at] ?? ''),
  };
  const found = fittingValues(index, use);
  if (found?.kind !== 'list') return found;
  return listedValues(found.values);
}

/** Quantized values use all of their range. Others are usually masks, and 1: what a mask hides becomes denormal. */
function integerRange(elementType: TensorType['elementType']): Range {
  if (elementType === 'int8') return { low: -127, high: 127 };
  return elementType === 'uint8' ? { low: 0, high: 255 } : { low: 1, high: 1 };
}

/** The zero point of activations is usually not zero; the zero points of a weight's channels are zero. */
function zeroPointRange({ elementType, dims }: TensorType): Range {
  const value = elementCount(dims) > 1 ? 0 : elementType === 'uint8' ? 160 : 32;
  return { low: value, high: value };
}

/** By how the graph reads it: valid indices, positive variances, related values, activations that keep their order. */
export function fillRange(graph: TypedGraph, name: string, type: TensorType): InputValues {
  const uses = graph.uses.get(name) ?? [];
  const scale = graph.scales.get(name);
  if (scale !== undefined) return { low: scale, high: scale };
  if (uses.some(({ node, index }) => quantizationInputs(node).zeroPoints.includes(index))) return zeroPointRange(type);
  for (const use of uses) {
    const values = follow(use, type, graph, fitting);
    if (values !== undefined) return values;
  }
  if (ELEMENT_TYPES[type.elementType].kind !== 'float') {
    for (const use of uses) {
      const isDivisor = DIVISIONS.has(use.node.opType) && use.index === 1;
      const range = isDivisor ? DIVISOR : follow(use, type, graph, indexRange);
      if (range !== undefined) return range;
    }
    return integerRange(type.elementType);
  }
  for (const use of uses) {
    const range = RANGES.get(use.node.opType)?.[use.index] ?? weightRange(use, type);
    if (range !== undefined) return range;
  }
  return SIGNED;
}
