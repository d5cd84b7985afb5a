import { elementCount, ELEMENT_TYPES } from '../model/element-type.js';
import type { Graph, Node, Tensor } from '../model/model.js';
import { type ConstantValues, constantValues } from '../model/constant-values.js';
import { nestedNodes } from '../model/nested-nodes.js';
import { isStandard } from '../model/opsets.js';
import { listSubgraphs } from '../model/subgraphs.js';
import { quantizationInputs } from './quantization-inputs.js';
import { float16Bits } from '../model/float16.js';
import { isSteeringInput, findSteeringInputs } from './steering-inputs.js';

/** Constants up to this many elements may steer an operator; longer ones count as weights. */
const MAX_STEERING_ELEMENTS = 1024;

const ARITHMETIC: ReadonlySet<string> = new Set(['Add', 'Sub', 'Mul', 'Div', 'Pow']);

/** Largest constant in a computation with shapes: a factor for each dimension. */
const MAX_ELEMENTS_WITH_SHAPES = 16;

/** Of formulas, not of training; fusions look for them: 0.5, 1 and sqrt 2 of a GELU, 6, an epsilon, 1/sqrt(d). */
const WELL_KNOWN: ReadonlySet<number> = (() => {
  const values: number[] = [0, Math.sqrt(2 / Math.PI), 0.044715, 1.702, 3.4028234663852886e38, 1e4, 1e9, Infinity];
  for (let n = 1; n <= 16; n++) values.push(n, 1 / n);
  for (let k = -24; k <= 24; k++) values.push(2 ** k, Math.sqrt(2 ** k));
  for (let d = 8; d <= 256; d += 8) values.push(Math.sqrt(d), 1 / Math.sqrt(d));
  for (let k = 1; k <= 12; k++) values.push(Number(`1e-${k}`));
  return new Set(values.flatMap((value) => [Math.fround(value), Math.fround(-value), value, -value]));
})();

const PARAMETRIC = new Set(
  (
    'Conv ConvTranspose FusedConv Gemm FusedGemm MatMul FusedMatMul BatchNormalization LayerNormalization ' +
    'SkipLayerNormalization InstanceNormalization GroupNormalization PRelu LSTM GRU RNN'
  ).split(' '),
);

function parameters(graph: Pick<Graph, 'nodes'>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { opType, inputs } of nestedNodes(graph.nodes)) {
    if (PARAMETRIC.has(opType)) for (const name of inputs) names.add(name);
  }
  return names;
}

const WELL_KNOWN_FLOAT16: ReadonlySet<number> = new Set([...WELL_KNOWN].map(float16Bits));

/** Whether a constant is a scalar of a formula. 0 and 1 of every type are among them, as identities. */
function isWellKnownScalar({ elementType, dims, data }: Tensor): boolean {
  if (elementCount(dims) !== 1 || data.kind !== 'inline') return false;
  const { bytes } = data;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (elementType === 'float32') return WELL_KNOWN.has(view.getFloat32(0, true));
  if (elementType === 'float64') return WELL_KNOWN.has(view.getFloat64(0, true));
  const bits = bytes.reduceRight((number, byte) => number * 256 + byte, 0);
  if (elementType === 'float16') return WELL_KNOWN_FLOAT16.has(bits);
  // A bias of one channel has a dimension.
  const isInteger = ELEMENT_TYPES[elementType].kind === 'integer' && dims.length === 0;
  const one = elementType === 'bfloat16' ? 0x3f80 : isInteger ? 1 : undefined;
  return one !== undefined && (bits === 0 || bits === one);
}

function steers(node: Node, index: number): boolean {
  return quantizationInputs(node).zeroPoints.includes(index) || isSteeringInput(node, index);
}

/** Index of the output of a Loop's body that decides whether the Loop continues. */
const CONDITION = 0;

/** First input of a Loop and of its body that iterations pass on; before it are the count and the condition. */
const FIRST_STATE = 2;

/** What a Loop's condition is computed from, with initial values. Ends at operators with learned parameters. */
function findLoopConditions({ opType, domain, inputs, attributes }: Node): readonly string[] {
  if (opType !== 'Loop' || !isStandard({ domain })) return [];
  return listSubgraphs(attributes).flatMap((body) => {
    const leading = new Set([body.output[CONDITION]?.name ?? '']);
    for (const node of body.node.toReversed()) {
      if (PARAMETRIC.has(node.opType) || !node.output.some((name) => leading.has(name))) continue;
      for (const name of node.input) leading.add(name);
    }
    const states = body.input.flatMap(({ name }, at) =>
      at >= FIRST_STATE && leading.has(name) ? (inputs[at] ?? []) : [],
    );
    return [...leading, ...states];
  });
}

/** Values of nodes and loops, and those that they are computed from, where these do not depend on the graph's inputs. */
function withOrigins(
  { nodes }: Pick<Graph, 'nodes'>,
  { produced, fromShapes }: ConstantValues,
  valuesOf: (node: Node) => readonly string[],
  others: readonly string[] = [],
): ReadonlySet<string> {
  const values = new Set(others);
  for (const node of nestedNodes(nodes)) {
    for (const name of [...valuesOf(node), ...findLoopConditions(node)]) values.add(name);
  }
  for (const { inputs, outputs } of nodes.toReversed()) {
    const leadsThere = outputs.some((name) => values.has(name) && (produced.has(name) || fromShapes.has(name)));
    if (leadsThere) for (const name of inputs) values.add(name);
  }
  return values;
}

/**
 * With all values that they are computed from, apart from inputs. Small constants in {@link ARITHMETIC} with shapes are
 * always among them: the result may be a 1, by which a runtime does not multiply.
 */
function steeringValues(graph: Pick<Graph, 'nodes' | 'initializers'>): ReadonlySet<string> {
  const constant = constantValues(graph);
  const isSmall = (name: string): boolean => {
    const dims = graph.initializers.get(name)?.dims;
    return dims !== undefined && elementCount(dims) <= MAX_ELEMENTS_WITH_SHAPES;
  };
  const withShapes = graph.nodes.flatMap(({ opType, inputs, outputs }) => {
    const isOfShapes = ARITHMETIC.has(opType) && outputs.some((name) => constant.fromShapes.has(name));
    return isOfShapes ? inputs.filter(isSmall) : [];
  });
  return withOrigins(graph, constant, (node) => node.inputs.filter((_, index) => steers(node, index)), withShapes);
}

/** Names of the values that decide the sizes of a graph's values, and that do not depend on its inputs. */
function sizingConstants(graph: Pick<Graph, 'nodes' | 'initializers'>): ReadonlySet<string> {
  return withOrigins(graph, constantValues(graph), (node) => {
    return (findSteeringInputs(node).sizes ?? []).map((index) => node.inputs[index] ?? '');
  });
}

/**
 * Names of initializers that decide the computation; all others are weights. Text, 64-bit integers and truth values up
 * to 1024 elements, inputs that steer by definition, what these are computed from, and scalars of formulas.
 */
export function steeringConstants(graph: Pick<Graph, 'nodes' | 'initializers'>): ReadonlySet<string> {
  const steering = new Set<string>();
  const steeringOnes = steeringValues(graph);
  const learned = parameters(graph);
  const exponents = integerExponents(graph);
  for (const [name, tensor] of graph.initializers) {
    const { elementType, data } = tensor;
    if (data.kind !== 'inline' && data.kind !== 'strings') continue;
    const steers = elementType === 'string' || exponents.has(name) || isSteeringByUse(name, tensor, steeringOnes);
    if (steers || (!learned.has(name) && isWellKnownScalar(tensor))) steering.add(name);
  }
  return steering;
}

/** A runtime has fast ways for squares and cubes. A learned exponent is no integer. */
function integerExponents({ nodes, initializers }: Pick<Graph, 'nodes' | 'initializers'>): ReadonlySet<string> {
  const exponents = [...nestedNodes(nodes)].flatMap(({ opType, inputs }) => (opType === 'Pow' ? inputs.slice(1) : []));
  return new Set(
    exponents.filter((name) => {
      const tensor = initializers.get(name);
      return tensor && elementCount(tensor.dims) === 1 && ELEMENT_TYPES[tensor.elementType].kind === 'integer';
    }),
  );
}

function isSteeringByUse(name: string, { elementType, dims }: Tensor, steeringOnes: ReadonlySet<string>): boolean {
  const byType = elementType === 'int64' || ELEMENT_TYPES[elementType].kind === 'boolean';
  return elementCount(dims) <= MAX_STEERING_ELEMENTS && (byType || steeringOnes.has(name));
}

export interface MissingConstants {
  readonly all: readonly string[];
  readonly files: ReadonlySet<string>;
  readonly sizing: readonly string[];
  /** Names of those that steer in other ways, or may be scalars of a formula. */
  readonly steering: readonly string[];
}

export function missingConstants(graph: Pick<Graph, 'nodes' | 'initializers'>): MissingConstants | undefined {
  const missing = new Map<string, Tensor>();
  const files = new Set<string>();
  for (const [name, tensor] of graph.initializers) {
    if (tensor.data.kind !== 'fill' || tensor.data.missingFrom === undefined) continue;
    missing.set(name, tensor);
    files.add(tensor.data.missingFrom);
  }
  if (missing.size === 0) return undefined;
  const all = [...missing.keys()];
  const sizes = sizingConstants(graph);
  const steeringOnes = steeringValues(graph);
  const learned = parameters(graph);
  const maySteer = ([name, tensor]: [string, Tensor]): boolean =>
    isSteeringByUse(name, tensor, steeringOnes) || (!learned.has(name) && elementCount(tensor.dims) === 1);
  const steering = [...missing].filter(maySteer).map(([name]) => name);
  return {
    all,
    files,
    sizing: all.filter((name) => sizes.has(name)),
    steering: steering.filter((name) => !sizes.has(name)),
  };
}
