import { elementCount, ELEMENT_TYPES, isPacked } from '../model/element-type.js';
import type { Graph, Model, Node, Tensor } from '../model/model.js';
import { nestedNodes } from '../model/nested-nodes.js';
import { quantizationInputs } from '../operators/quantization-inputs.js';
import { capturedNames } from '../model/subgraphs.js';

type Parameters = Pick<Graph, 'nodes' | 'initializers'>;

function namesOf(nodes: Iterable<Node>, which: 'scales' | 'zeroPoints'): ReadonlySet<string> {
  const names = new Set<string>();
  for (const node of nodes) for (const index of quantizationInputs(node)[which]) names.add(node.inputs[index] ?? '');
  names.delete('');
  return names;
}

/**
 * Values that may select a kernel stay: the least (a Relu before it changes nothing), zero (symmetric weights), and the
 * middle of an unsigned type (zero once a runtime makes the type signed). All others are one class.
 */
function classedZeroPoint(value: bigint, bits: number, isSigned: boolean): bigint {
  const half = 1n << BigInt(bits - 1);
  const least = isSigned ? -half : 0n;
  if (value === 0n || value === least || value === least + half) return value;
  return least + half + half / 4n;
}

function classedZeroPoints(tensor: Tensor): Tensor {
  const { elementType, data } = tensor;
  const { bits, kind, array } = ELEMENT_TYPES[elementType];
  if (data.kind !== 'inline' || kind !== 'integer') return tensor;
  const isSigned = !elementType.startsWith('u');
  // The middle of an unsigned type, zero of a signed one.
  if (isPacked(elementType)) {
    const middles = bits === 4 ? 0x88 : 0xaa;
    return { ...tensor, data: { kind: 'inline', bytes: data.bytes.map(() => (isSigned ? 0 : middles)) } };
  }
  // Not slice(): for a Buffer it returns a view of the same memory.
  const bytes = new Uint8Array(data.bytes);
  const values = new array(bytes.buffer);
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) return tensor;
  for (const [i, value] of values.entries()) values[i] = Number(classedZeroPoint(BigInt(value), bits, isSigned));
  return { ...tensor, data: { kind: 'inline', bytes } };
}

/** The first scale for each later one of the same value, of one element and not read by subgraphs. */
function equalScales({ nodes, initializers }: Parameters): ReadonlyMap<string, string> {
  const captured = new Set(nodes.flatMap(capturedNames));
  const firsts = new Map<string, string>();
  const same = new Map<string, string>();
  for (const name of namesOf(nodes, 'scales')) {
    const tensor = initializers.get(name);
    if (tensor?.data.kind !== 'inline' || elementCount(tensor.dims) !== 1 || captured.has(name)) continue;
    const key = `${tensor.elementType} ${tensor.dims.join()} ${Buffer.from(tensor.data.bytes).toString('hex')}`;
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, name);
    else same.set(name, first);
  }
  return same;
}

/**
 * Keeps facts that select kernels and drops calibrated values: equal scales are one constant, zero points are classed.
 */
export function withCanonicalQuantization(model: Model): Model {
  const { graph } = model;
  const zeroPoints = namesOf(nestedNodes(graph.nodes), 'zeroPoints');
  const same = equalScales(graph);
  if (zeroPoints.size === 0 && same.size === 0) return model;
  const isRead = new Set(graph.outputs);
  const nodes = graph.nodes.map((node): Node => {
    const scales = new Set(quantizationInputs(node).scales);
    const inputs = node.inputs.map((name, index) => (scales.has(index) ? (same.get(name) ?? name) : name));
    for (const name of [...inputs, ...capturedNames(node)]) isRead.add(name);
    return { ...node, inputs };
  });
  const initializers = new Map<string, Tensor>();
  for (const [name, tensor] of graph.initializers) {
    if (same.has(name) && !isRead.has(name)) continue;
    initializers.set(name, zeroPoints.has(name) ? classedZeroPoints(tensor) : tensor);
  }
  return { ...model, graph: { ...graph, nodes, initializers } };
}
