import {
  elementCount,
  intAttribute,
  isDefaultAttribute,
  type LayerGraph,
  type Node,
  type Tensor,
  isStandard,
  normalizeDomain,
  findMeaning,
  findOldestOpset,
  nestedNodes,
  maxOf,
} from '../../../src/plugin-api.js';

// Forms of a layer that no runtime distinguishes become one form, so that layers of all exporters have one signature.

type Attribute = Node['attributes'][number];

const ALONG_AXIS: ReadonlySet<string> = new Set(
  'ArgMax ArgMin Concat Gather GatherElements Hardmax LayerNormalization LogSoftmax Softmax Split TopK'.split(' '),
);

/** Before opset 13, `axis` split the dimensions in two, by default at 1; since then it is one, by default the last. */
const OVER_LAST_AXIS: ReadonlySet<string> = new Set(['Softmax', 'LogSoftmax', 'Hardmax']);
const ONE_AXIS_SINCE = 13;

const KERNELS: ReadonlySet<string> = new Set(['Conv', 'ConvTranspose', 'FusedConv']);

function findDims(graph: LayerGraph, name: string | undefined): readonly number[] | undefined {
  if (name === undefined) return undefined;
  return (graph.constants.get(name) ?? graph.types.get(name))?.dims;
}

/** `axis` counted from the front and from the end; undefined for every other attribute. */
function bothAxes(attribute: Attribute, layer: Node, graph: LayerGraph): readonly [Attribute, Attribute] | undefined {
  const rank = findDims(graph, layer.inputs[0])?.length;
  if (rank === undefined || attribute.name !== 'axis') return undefined;
  if (!isStandard(layer) || !ALONG_AXIS.has(layer.opType)) return undefined;
  const front = attribute.i < 0n ? attribute.i + BigInt(rank) : attribute.i;
  return [
    { ...attribute, i: front },
    { ...attribute, i: front - BigInt(rank) },
  ];
}

/** With omitted ones whose default depends on the opset. */
function statedAttributes({ opType, attributes, inputs, ...layer }: Node, graph: LayerGraph): readonly Attribute[] {
  const rank = findDims(graph, inputs[0])?.length;
  const isStated = attributes.some(({ name }) => name === 'axis');
  if (rank === undefined || isStated || !OVER_LAST_AXIS.has(opType) || !isStandard(layer)) return attributes;
  const opset = graph.opsets.get('') ?? graph.opsets.get('ai.onnx') ?? 0;
  return [...attributes, intAttribute('axis', opset < ONE_AXIS_SINCE ? 1 : rank - 1)];
}

/** Since opset 11, a Concat's axis may count from the end, and two inputs of a Gemm are enough. */
function findOtherOpset(layer: Node, attributes: readonly Attribute[], graph: LayerGraph): number | undefined {
  if (!isStandard(layer)) return undefined;
  const { opType, inputs } = layer;
  const axis = attributes.find(({ name }) => name === 'axis')?.i;
  if (opType === 'Concat') return axis !== undefined && axis >= 0n ? 11 : undefined;
  if (opType === 'Gemm') return (inputs[2] ?? '') === '' ? undefined : 11;
  const rank = findDims(graph, inputs[0])?.length;
  const isOverLast = OVER_LAST_AXIS.has(opType) && rank !== undefined && axis === BigInt(rank - 1);
  return isOverLast ? ONE_AXIS_SINCE : undefined;
}

function canonicalAttributes(layer: Node, graph: LayerGraph): readonly Attribute[] {
  return statedAttributes(layer, graph).flatMap((attribute) => {
    const forms = bothAxes(attribute, layer, graph) ?? [attribute];
    const isDefault = forms.some((form) => isDefaultAttribute(layer, form));
    const isKernelShape = attribute.name === 'kernel_shape' && KERNELS.has(layer.opType);
    const isOfWeight = isKernelShape && findDims(graph, layer.inputs[1])?.slice(2).join() === attribute.ints.join();
    return isDefault || isOfWeight ? [] : [forms[0]];
  });
}

/** undefined where the layer is no Reshape to a constant target, or a zero would mean another size. */
function reshapeTarget(layer: Node, graph: LayerGraph, isInner: (value: string) => boolean): Tensor | undefined {
  if (!isStandard(layer) || layer.opType !== 'Reshape' || isInner(layer.inputs[1] ?? '')) return undefined;
  const target = graph.constants.get(layer.inputs[1] ?? '');
  const dims = findDims(graph, layer.outputs[0]);
  const from = findDims(graph, layer.inputs[0]);
  if (target === undefined || dims === undefined) return undefined;
  // A size of zero copies the input's.
  if (dims.some((size, axis) => size === 0 && from?.[axis] !== 0)) return undefined;
  const bytes = new Uint8Array(BigInt64Array.from(dims.map(BigInt)).buffer);
  return { elementType: 'int64', dims: [dims.length], data: { kind: 'inline', bytes } };
}

/**
 * @param unused makes a name that no value of the graph has
 * @returns alsoIn: an opset in which the layer means the same, although its operator's definition changed in between
 */
export function canonicalLayer(
  layer: Node,
  graph: LayerGraph,
  isInner: (value: string) => boolean,
  unused: () => string,
) {
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
  const needed = canonicalAttributes(layer, graph).filter(({ name }) => target === undefined || name !== 'allowzero');
  return { layer: { ...layer, inputs, attributes: needed }, constants, alsoIn: findOtherOpset(layer, needed, graph) };
}

/** As {@link canonicalLayer} finds it. */
type AlsoIn = ReadonlyMap<Node, number | undefined>;

/** If all operators mean the same in it as in the model. @param operators of ai.onnx, those of subgraphs too */
function commonOpset(operators: readonly Node[], version: number, alsoIn: AlsoIn): number | undefined {
  const named = operators.flatMap((node) => alsoIn.get(node) ?? []);
  if (named.length === 0) return undefined;
  const newest = maxOf(named);
  const isSame = (node: Node): boolean => {
    return findMeaning(node.opType, alsoIn.get(node) ?? version) === findMeaning(node.opType, newest);
  };
  return operators.every(isSame) ? newest : undefined;
}

/**
 * The oldest opset in which the operators are defined as in the model, or a newer one in which these layers mean the
 * same, so that bricks of old and new models fit into one graph. Domains ascend.
 */
export function canonicalOpsets(
  { opsets }: LayerGraph,
  nodes: readonly Node[],
  elementTypes: Iterable<Tensor['elementType']>,
  alsoIn: AlsoIn,
): ReadonlyMap<string, number> {
  const operators = [...nestedNodes(nodes)];
  const used = new Map<string, number>();
  for (const [name, version] of opsets) {
    const domain = normalizeDomain(name);
    const own = operators.filter((node) => normalizeDomain(node.domain) === domain);
    if (own.length === 0) continue;
    const oldest = domain === '' ? findOldestOpset(own, version, elementTypes) : undefined;
    const newer = domain === '' ? commonOpset(own, version, alsoIn) : undefined;
    used.set(domain, Math.max(oldest ?? version, newer ?? 0));
  }
  return new Map([...used].sort(([a], [b]) => (a < b ? -1 : 1)));
}
