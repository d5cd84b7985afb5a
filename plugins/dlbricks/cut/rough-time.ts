import {
  type Benchmark,
  elementCount,
  fanIn,
  GATHERING,
  type LayerGraph,
  type Node,
  findStaticType,
  sumOf,
  type TensorType,
  tensorBytes,
} from '../../../src/plugin-api.js';
import { brickModel } from './brick-model.js';

/** Of an imaginary processor, about one core of a server of the 2020s. Decides cuts and copies, never a latency. */
const MULTIPLY_ACCUMULATES_PER_MS = 1e8;
const BYTES_PER_MS = 2e7;
const MS_PER_KERNEL = 0.002;

const BYTES_PER_ELEMENT = 4;

function elements(type: TensorType | undefined): number {
  return type === undefined ? 0 : elementCount(type.dims);
}

export function roughMs(graph: Record<'types' | 'constants', ReadonlyMap<string, TensorType>>, kernel: Node): number {
  const typeOf = (name: string): TensorType | undefined => graph.types.get(name) ?? graph.constants.get(name);
  const written = kernel.outputs.reduce((sum, name) => sum + elements(typeOf(name)), 0);
  // Of a table, a lookup reads as many elements as it writes.
  const isLookup = GATHERING.has(kernel.opType);
  const readOf = (name: string, at: number): number => {
    return isLookup && at === 0 ? Math.min(written, elements(typeOf(name))) : elements(typeOf(name));
  };
  const touched = kernel.inputs.reduce((sum, name, at) => sum + readOf(name, at), written);
  const second = typeOf(kernel.inputs[1] ?? '');
  const perOutput = second === undefined ? undefined : fanIn({ node: kernel, index: 1 }, second);
  const multiplyAccumulates = (perOutput ?? 0) * elements(typeOf(kernel.outputs[0] ?? ''));
  return (
    multiplyAccumulates / MULTIPLY_ACCUMULATES_PER_MS + (touched * BYTES_PER_ELEMENT) / BYTES_PER_MS + MS_PER_KERNEL
  );
}

/** From the shapes in its file; ms. */
export function roughMsOfBrick({ model, inputs }: Benchmark): number {
  const { graph } = brickModel({ model });
  const types = new Map<string, TensorType>();
  for (const [name, declared] of graph.types) {
    const type = findStaticType(declared);
    if (type !== undefined) types.set(name, type);
  }
  const constants = new Map(inputs.filter(({ role }) => role === 'weight').map((weight) => [weight.name, weight]));
  return graph.nodes.reduce((sum, kernel) => sum + roughMs({ types, constants }, kernel), 0);
}

const MEMORY_BYTES_PER_MS = 1e7;

/** Time to read weights from memory without caches, over the time of the work that uses them. */
export function weightShare(bytes: number, workRoughMs: number): number {
  return bytes / MEMORY_BYTES_PER_MS / workRoughMs;
}

const DOMINANT_SHARE = 0.5;

export function readsLittleButWeights(bytes: number, workRoughMs: number): boolean {
  return weightShare(bytes, workRoughMs) > DOMINANT_SHARE;
}

export function weightBytes(graph: LayerGraph, kernel: Node): number {
  return sumOf(kernel.inputs.flatMap((name) => graph.constants.get(name) ?? []).map(tensorBytes));
}
