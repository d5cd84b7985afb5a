import { int, ints, string } from '../onnx/model/make-attributes.js';
import { dimension, fixed, misshapen, type Value } from './builder.js';
import { type Layer, reshape, transpose, unsqueeze } from './tensor.js';

type Border = 'constant' | 'edge' | 'reflect';

export function pad(border: Border, before: number, after: number): Layer {
  return (x) => {
    const size = (axis: number): number => fixed(x, axis) + before + after;
    const pads = x.graph.integers('pads', [0, 0, before, before, 0, 0, after, after]);
    return x.graph.apply('Pad', [x, pads], [...x.dims.slice(0, 2), size(2), size(3)], [string('mode', border)]);
  };
}

export function slice(axis: number, start: number, end: number): Layer {
  return (x) => {
    const { graph } = x;
    if (end > fixed(x, axis)) throw misshapen(x, `no ${end} entries along dimension ${axis}`);
    const bounds = [graph.integers('starts', [start]), graph.integers('ends', [end]), graph.integers('axes', [axis])];
    return graph.apply('Slice', [x, ...bounds], x.dims.with(axis, end - start));
  };
}

export const withoutFirstRowAndColumn: Layer = (x) => {
  const { graph } = x;
  const sizes = [fixed(x, 2), fixed(x, 3)];
  const bounds = [graph.integers('starts', [1, 1]), graph.integers('ends', sizes), graph.integers('axes', [2, 3])];
  return graph.apply('Slice', [x, ...bounds], [...x.dims.slice(0, 2), ...sizes.map((size) => size - 1)]);
};

export function entry(axis: number, index: number): Layer {
  return (x) => {
    const output = x.dims.toSpliced(axis, 1);
    return x.graph.apply('Gather', [x, x.graph.integers('index', [index], [])], output, [int('axis', axis)]);
  };
}

export function expand(x: Value, shape: readonly number[]): Value {
  const dims = shape.map((size, axis) => (size === 1 ? dimension(x, axis) : size));
  return x.graph.apply('Expand', [x, x.graph.integers('shape', shape)], dims);
}

/** From [batch, channels] to [batch, channels, height, width]. */
export function asImage(height: number, width: number): Layer {
  return (x) => expand(unsqueeze(x, [2, 3]), [1, 1, height, width]);
}

type Reduction = 'ReduceMean' | 'ReduceMax' | 'ReduceMin';

function reduce(operator: Reduction, axes: readonly number[]): Layer {
  return (x) => {
    const output = x.dims.filter((_, axis) => !axes.includes(axis));
    return x.graph.apply(operator, [x], output, [ints('axes', axes), int('keepdims', 0)]);
  };
}

export function total(axis: number): Layer {
  return (x) => {
    const output = x.dims.toSpliced(axis, 1);
    return x.graph.apply('ReduceSum', [x, x.graph.integers('axes', [axis])], output, [int('keepdims', 0)]);
  };
}

export const channelMean = reduce('ReduceMean', [2, 3]);

export function resize(mode: 'nearest' | 'linear', factor: number): Layer {
  return (x) => {
    const dims = [...x.dims.slice(0, 2), fixed(x, 2) * factor, fixed(x, 3) * factor];
    const coordinates = mode === 'nearest' ? 'asymmetric' : 'half_pixel';
    const scales = x.graph.floats('scales', [1, 1, factor, factor]);
    return x.graph.apply('Resize', [x, undefined, scales], dims, [
      string('mode', mode),
      string('coordinate_transformation_mode', coordinates),
      ...(mode === 'nearest' ? [string('nearest_mode', 'floor')] : []),
    ]);
  };
}

export const channelsLast: Layer = (x) => transpose(x, [0, 2, 3, 1]);

export const channelsFirst: Layer = (x) => transpose(x, [0, 3, 1, 2]);

export function reshapeTo(...shape: readonly number[]): Layer {
  return (x) => reshape(x, [0, ...shape]);
}
