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

export interface CanonicalLayer {
  readonly layer: Node;
  readonly constants: ReadonlyMap<string, Tensor>;
  /**
   * An opset, older or newer than the model's, in which the layer means the same, although the definition of its
   * operator changed in between; undefined where none is known.
   */
  readonly alsoIn: number | undefined;
}

type Attribute = Node['attributes'][number];

/** Operators whose `axis` counts the dimensions of their first input. */
const ALONG_AXIS: ReadonlySet<string> = new Set(
  'ArgMax ArgMin Concat Gather GatherElements Hardmax LayerNormalization LogSoftmax Softmax Split TopK'.split(' '),
);

/**
 * Operators whose `axis` changed its meaning in opset 13. Before, it split all dimensions into two groups, by default
 * at 1. Since then, it is one dimension, by default the last. Source: Softmax-11 and Softmax-13 in the ONNX project's
 * Changelog.md.
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

/** An attribute `axis`, counted from the front and from the end; undefined for every other attribute. */
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

function followsFromWeight({ name, ints }: Attribute, layer: Node, graph: LayerGraph): boolean {
  if (name !== 'kernel_shape' || !KERNELS.has(layer.opType)) return false;
  return dimsOf(graph, layer.inputs[1])?.slice(2).join() === ints.join();
}

/** The attributes of a layer, including omitted ones whose default depends on the opset. */
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
 * Another opset in which a layer means the same: 11 for a Concat that counts its axis from the front (counting from the
 * end is allowed since opset 11) and for a Gemm with all three inputs (two are enough since 11), 13 for a Softmax over
 * the last dimension alone.
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

/** Whether each size of zero, which copies the input's size, does so from a size of zero. */
function copiesZeros(dims: readonly number[], from: readonly number[] | undefined): boolean {
  return dims.every((size, axis) => size !== 0 || from?.[axis] === 0);
}

/**
 * The known shape of a Reshape's output, as its target; undefined where the layer is no Reshape to a constant target,
 * or a size of zero would mean another size.
 */
function reshapeTarget(layer: Node, graph: LayerGraph, isInner: (value: string) => boolean): Tensor | undefined {
  if (!isStandard(layer) || layer.opType !== 'Reshape' || isInner(layer.inputs[1] ?? '')) return undefined;
  const target = graph.constants.get(layer.inputs[1] ?? '');
  const dims = dimsOf(graph, layer.outputs[0]);
  const from = dimsOf(graph, layer.inputs[0]);
  if (target === undefined || dims === undefined || !copiesZeros(dims, from)) return undefined;
  const bytes = new Uint8Array(BigInt64Array.from(dims.map(BigInt)).buffer);
  return { elementType: 'int64', dims: [dims.length], data: { kind: 'inline', bytes } };
}

/**
 * The canonical form of a layer, which is the same for all exporters. It computes the same with the same kernel.
 *
 * @param graph of the layer
 * @param isInner whether a layer of the same sequence makes a value
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
    // Exporters write two equal scalar inputs as one constant or as two.
    const constant = graph.constants.get(name);
    const isRepeated = constant !== undefined && layer.inputs.indexOf(name) < index;
    return isRepeated && elementCount(constant.dims) === 1 ? own(constant) : name;
  });
  const attributes = canonicalAttributes(layer, graph);
  const needed = attributes.filter(({ name }) => target === undefined || name !== 'allowzero');
  const alsoIn = alsoInOf(layer, needed, graph);
  return { layer: { ...layer, inputs, attributes: needed }, constants, alsoIn };
}
