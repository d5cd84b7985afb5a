import {
  elementCount,
  intAttribute,
  isDefaultAttribute,
  type LayerGraph,
  type Node,
  type Tensor,
} from '../../../src/plugin-api.js';

// Exporters write the same layer in different ways. Forms that no runtime distinguishes become one form, so that they have the same
// signature: attributes with their defaults, negative axes, a Reshape's target, one scalar for several inputs.

/** A layer in its canonical form, and the constants that it reads instead of the model's. */
export interface CanonicalLayer {
  readonly layer: Node;
  readonly constants: ReadonlyMap<string, Tensor>;
  /**
   * An opset in which the layer means the same as in its model's, older or newer, although its operator was defined
   * anew in between; undefined where no such is known.
   */
  readonly alsoIn: number | undefined;
}

type Attribute = Node['attributes'][number];

/** Operators whose `axis` counts the dimensions of their first input. */
const ALONG_AXIS: ReadonlySet<string> = new Set(
  'ArgMax ArgMin Concat Gather GatherElements Hardmax LayerNormalization LogSoftmax Softmax Split TopK'.split(' '),
);

/**
 * Operators whose `axis` was where two dimensions began, by default 1, and is since opset 13 one dimension, by default
 * the last. Source: Softmax-11 and Softmax-13 in the ONNX project's Changelog.md.
 */
const OVER_LAST_AXIS: ReadonlySet<string> = new Set(['Softmax', 'LogSoftmax', 'Hardmax']);
const ONE_AXIS_SINCE = 13;

/** Operators whose `kernel_shape` follows from their second input. */
const KERNELS: ReadonlySet<string> = new Set(['Conv', 'ConvTranspose', 'FusedConv']);

function isStandard({ domain }: Pick<Node, 'domain'>): boolean {
  return domain === '' || domain === 'ai.onnx';
}

function dimsOf(graph: LayerGraph, name: string | undefined): readonly number[] | undefined {
  if (name === undefined) return undefined;
  return (graph.constants.get(name) ?? graph.types.get(name))?.dims;
}

/** An attribute `axis` counted from the front and from the end; undefined for every other one. */
function bothAxes(attribute: Attribute, layer: Node, graph: LayerGraph): readonly [Attribute, Attribute] | undefined {
  const rank = dimsOf(graph, layer.inputs[0])?.length;
  if (rank === undefined || attribute.name !== 'axis') return undefined;
  if (!isStandard(layer) || !ALONG_AXIS.has(layer.opType)) return undefined;
  const front = attribute.i < 0n ? attribute.i + BigInt(rank) : attribute.i;
  return [
    { ...attribute, i: front },
    { ...attribute, i: front - BigInt(rank) },
  ];
}

/** Whether a kernel's shape says what its weight does. */
function followsFromWeight({ name, ints }: Attribute, layer: Node, graph: LayerGraph): boolean {
  if (name !== 'kernel_shape' || !KERNELS.has(layer.opType)) return false;
  return dimsOf(graph, layer.inputs[1])?.slice(2).join() === ints.join();
}

/** The attributes of a layer, and those that it leaves out with a default that depends on the opset. */
function statedAttributes({ opType, attributes, inputs, ...layer }: Node, graph: LayerGraph): readonly Attribute[] {
  const rank = dimsOf(graph, inputs[0])?.length;
  const isStated = attributes.some(({ name }) => name === 'axis');
  if (rank === undefined || isStated || !OVER_LAST_AXIS.has(opType) || !isStandard(layer)) return attributes;
  return [...attributes, intAttribute('axis', opsetOf(graph) < ONE_AXIS_SINCE ? 1 : rank - 1)];
}

function opsetOf({ opsets }: LayerGraph): number {
  return opsets.get('') ?? opsets.get('ai.onnx') ?? 0;
}

/**
 * An opset in which a layer means what it means in its own: a Concat counts its axis from the front (from the end since
 * opset 11), a Gemm has all three inputs (two are enough since 11), a Softmax is over the last dimension alone.
 */
function alsoInOf(layer: Node, attributes: readonly Attribute[], graph: LayerGraph): number | undefined {
  if (!isStandard(layer)) return undefined;
  const { opType, inputs } = layer;
  const axis = attributes.find(({ name }) => name === 'axis')?.i;
  if (opType === 'Concat') return axis !== undefined && axis >= 0n ? 11 : undefined;
  if (opType === 'Gemm') return (inputs[2] ?? '') === '' ? undefined : 11;
  const rank = dimsOf(graph, inputs[0])?.length;
  const isOverLast = OVER_LAST_AXIS.has(opType) && rank !== undefined && axis === BigInt(rank - 1);
  return isOverLast ? ONE_AXIS_SINCE : undefined;
}

function canonicalAttributes(layer: Node, graph: LayerGraph): readonly Attribute[] {
  return statedAttributes(layer, graph).flatMap((attribute) => {
    const forms = bothAxes(attribute, layer, graph) ?? [attribute];
    const isDefault = forms.some((form) => isDefaultAttribute(layer, form));
    return isDefault || followsFromWeight(attribute, layer, graph) ? [] : [forms[0]];
  });
}

/** The known shape of a Reshape's output, as its target; undefined where it is no Reshape by a constant of its own, or a size is zero. */
function reshapeTarget(layer: Node, graph: LayerGraph, isInner: (value: string) => boolean): Tensor | undefined {
  if (!isStandard(layer) || layer.opType !== 'Reshape' || isInner(layer.inputs[1] ?? '')) return undefined;
  const target = graph.constants.get(layer.inputs[1] ?? '');
  const dims = dimsOf(graph, layer.outputs[0]);
  if (target === undefined || dims === undefined || dims.includes(0)) return undefined;
  const bytes = new Uint8Array(BigInt64Array.from(dims.map(BigInt)).buffer);
  return { elementType: 'int64', dims: [dims.length], data: { kind: 'inline', bytes } };
}

/**
 * A layer in the form that all exporters' ways of writing it have in common. It computes the same by the same kernel.
 *
 * @param graph that it is of
 * @param isInner whether a layer that stands in the same sequence makes a value
 * @param unused makes a name that no value of the graph has
 */
export function canonicalLayer(
  layer: Node,
  graph: LayerGraph,
  isInner: (value: string) => boolean,
  unused: () => string,
): CanonicalLayer {
  const constants = new Map<string, Tensor>();
  const own = (tensor: Tensor): string => {
    const name = unused();
    constants.set(name, tensor);
    return name;
  };
  const target = reshapeTarget(layer, graph, isInner);
  const inputs = layer.inputs.map((name, index) => {
    if (target !== undefined && index === 1) return own(target);
    // Whether two inputs are one scalar or two equal ones is a whim.
    const constant = graph.constants.get(name);
    const isRepeated = constant !== undefined && layer.inputs.indexOf(name) < index;
    return isRepeated && elementCount(constant.dims) === 1 ? own(constant) : name;
  });
  const attributes = canonicalAttributes(layer, graph);
  const needed = attributes.filter(({ name }) => target === undefined || name !== 'allowzero');
  const alsoIn = alsoInOf(layer, needed, graph);
  return { layer: { ...layer, inputs, attributes: needed }, constants, alsoIn };
}
