import type { Dimension } from '../onnx/model/model.js';
import { int, ints } from '../onnx/model/make-attributes.js';
import { dimension, fixed, misshapen, type Network, type Value } from './builder.js';

export type Layer = (x: Value) => Value;

export function chain(...layers: readonly Layer[]): Layer {
  return (x) => layers.reduce((value, layer) => layer(value), x);
}

export function repeated(count: number, layer: Layer): Layer {
  return chain(...Array.from({ length: count }, () => layer));
}

/** Blocks of which only the first has a stride. */
export function strided(count: number, stride: number, block: (stride: number) => Layer): Layer {
  return chain(block(stride), repeated(count - 1, block(1)));
}

/** @param size rows and columns of an image with three colors, or channels, height and width */
export function imageNetwork(size: number | readonly [number, number, number], ...layers: readonly Layer[]): Network {
  const dims = typeof size === 'number' ? [3, size, size] : size;
  return (graph) => graph.output('output', chain(...layers)(graph.input('input', 'float32', ['batch', ...dims])));
}

function elementwise(opType: string): Layer {
  return (x) => x.graph.apply(opType, [x], x);
}

export const relu = elementwise('Relu');
export const sigmoid = elementwise('Sigmoid');
export const tanh = elementwise('Tanh');
export const erf = elementwise('Erf');
export const exp = elementwise('Exp');
export const log = elementwise('Log');
export const sqrt = elementwise('Sqrt');
export const neg = elementwise('Neg');
export const identity = elementwise('Identity');
export const dropout = elementwise('Dropout');

/** Source: "Broadcasting in ONNX" of the ONNX documentation. */
function broadcast(left: Value, right: Value, leftDims = left.dims, rightDims = right.dims): Dimension[] {
  const rank = Math.max(leftDims.length, rightDims.length);
  return Array.from({ length: rank }, (_, i) => {
    const a = leftDims.at(i - rank) ?? 1;
    const b = rightDims.at(i - rank) ?? 1;
    if (a === b || b === 1) return a;
    if (a === 1) return b;
    throw misshapen(left, `a shape that does not go with ${right.name} [${right.dims.join(', ')}]`);
  });
}

function binary(opType: string) {
  return (left: Value, right: Value): Value => left.graph.apply(opType, [left, right], broadcast(left, right));
}

export const add = binary('Add');
export const sub = binary('Sub');
export const mul = binary('Mul');
export const div = binary('Div');
export const pow = binary('Pow');
export const max = binary('Max');

/** x σ(x). Source: Elfwing et al., Sigmoid-Weighted Linear Units, arXiv:1702.03118. */
export const silu: Layer = (x) => mul(x, sigmoid(x));

export function times(factor: number): Layer {
  return (x) => mul(x, x.graph.scalar('factor', factor));
}

export function plus(summand: number): Layer {
  return (x) => add(x, x.graph.scalar('summand', summand));
}

export function matMul(left: Value, right: Value): Value {
  const inner = dimension(right, -2);
  if (dimension(left, -1) !== inner) throw misshapen(left, `no ${inner} columns to multiply with ${right.name}`);
  const leading = broadcast(left, right, left.dims.slice(0, -2), right.dims.slice(0, -2));
  return left.graph.apply('MatMul', [left, right], [...leading, dimension(left, -2), dimension(right, -1)]);
}

export function transpose(x: Value, perm: readonly number[]): Value {
  return x.graph.apply(
    'Transpose',
    [x],
    perm.map((axis) => dimension(x, axis)),
    [ints('perm', perm)],
  );
}

/** In `shape`, 0 keeps the dimension, so that it may be symbolic, and -1 takes the remaining elements. */
export function reshape(x: Value, shape: readonly number[]): Value {
  const kept = (axis: number): boolean => shape[axis] === 0;
  const elements = x.dims.reduce<number>((product, _, axis) => (kept(axis) ? product : product * fixed(x, axis)), 1);
  const named = shape.reduce((product, size) => (size > 0 ? product * size : product), 1);
  const dims = shape.map((size, axis) => (size === 0 ? dimension(x, axis) : size === -1 ? elements / named : size));
  return x.graph.apply('Reshape', [x, x.graph.integers('shape', shape)], dims);
}

export const flatten: Layer = (x) => {
  const columns = x.dims.reduce<number>((product, _, axis) => (axis === 0 ? product : product * fixed(x, axis)), 1);
  return x.graph.apply('Flatten', [x], [dimension(x, 0), columns], [int('axis', 1)]);
};

export function unsqueeze(x: Value, axes: readonly number[]): Value {
  const dims: Dimension[] = [...x.dims];
  for (const axis of axes) dims.splice(axis, 0, 1);
  return x.graph.apply('Unsqueeze', [x, x.graph.integers('axes', axes)], dims);
}

export function concat(axis: number, values: readonly [Value, ...Value[]]): Value {
  const [first] = values;
  const size = values.reduce((sum, value) => sum + fixed(value, axis), 0);
  return first.graph.apply('Concat', values, first.dims.with(axis, size), [int('axis', axis)]);
}

export function split(x: Value, parts: number): Value[] {
  const size = fixed(x, -1) / parts;
  const part = { elementType: x.elementType, dims: x.dims.with(-1, size) };
  const each = <T>(value: T): T[] => Array.from({ length: parts }, () => value);
  const sizes = x.graph.integers('split', each(size));
  return x.graph.applyMany('Split', [x, sizes], each(part), [int('axis', -1)]);
}

/** The entry along dimension 1 with the largest score. */
export function bestEntry(x: Value, scores: Value): Value {
  const { graph } = x;
  const index = graph.apply('ArgMax', [scores], { elementType: 'int64', dims: scores.dims.with(1, 1) }, [
    int('axis', 1),
    int('keepdims', 1),
  ]);
  return graph.apply('GatherND', [x, index], x.dims.toSpliced(1, 1), [int('batch_dims', 1)]);
}

export function gatherRows(table: Value, indices: Value): Value {
  return table.graph.apply('Gather', [table, indices], [...indices.dims, ...table.dims.slice(1)], [int('axis', 0)]);
}

export function softmaxOver(axis: number): Layer {
  return (x) => x.graph.apply('Softmax', [x], x, [int('axis', axis)]);
}

export const softmax = softmaxOver(-1);
