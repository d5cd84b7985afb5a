import { float, int, ints } from '../onnx/model/make-attributes.js';
import { dimension, fixed, misshapen, type Value } from './builder.js';
import { bias, scale, weight } from './initialization.js';
import { add, chain, concat, type Layer, relu } from './tensor.js';

type Size = number | readonly [number, number];

/** Rows and columns on both sides, or the number of each before and after the image. */
export type Padding = Size | { readonly before: number; readonly after: number };

interface Window {
  readonly stride?: Size;
  readonly padding?: Padding;
}

export interface ConvolutionOptions extends Window {
  readonly dilation?: number;
  readonly groups?: number;
  readonly bias?: boolean;
}

interface PoolOptions extends Window {
  readonly ceil?: boolean;
}

function pair(size: Size): readonly [number, number] {
  return typeof size === 'number' ? [size, size] : size;
}

function toPads(padding: Padding): readonly [number, number, number, number] {
  if (typeof padding === 'object' && 'before' in padding) {
    const { before, after } = padding;
    return [before, before, after, after];
  }
  return [...pair(padding), ...pair(padding)];
}

function slide(
  x: Value,
  kernel: Size,
  { stride = 1, padding = 0, ceil = false, dilation = 1 }: PoolOptions & ConvolutionOptions,
) {
  if (x.dims.length !== 4) throw misshapen(x, 'no height and width');
  const kernels = pair(kernel);
  const strides = pair(stride);
  const pads = toPads(padding);
  const round = ceil ? Math.ceil : Math.floor;
  const size = (axis: 0 | 1): number => {
    const padded = fixed(x, axis + 2) + pads[axis] + (pads[axis + 2] ?? 0);
    return round((padded - dilation * (kernels[axis] - 1) - 1) / strides[axis]) + 1;
  };
  return {
    size: [size(0), size(1)],
    attributes: [ints('kernel_shape', kernels), ints('pads', pads), ints('strides', strides)],
  };
}

export function conv(channels: number, kernel: Size, options: ConvolutionOptions = {}): Layer {
  const { groups = 1, bias: biased = true, dilation = 1 } = options;
  return (x) => {
    const { size, attributes } = slide(x, kernel, options);
    const kernelDims = [channels, fixed(x, 1) / groups, ...pair(kernel)];
    const fanIn = kernelDims.slice(1).reduce((product, dim) => product * dim, 1);
    const weights = [weight(x.graph, kernelDims, fanIn), ...(biased ? [bias(x.graph, channels)] : [])];
    const output = { elementType: x.elementType, dims: [dimension(x, 0), channels, ...size] };
    return x.graph.apply('Conv', [x, ...weights], output, [
      ints('dilations', [dilation, dilation]),
      int('group', groups),
      ...attributes,
    ]);
  };
}

export function deconv(
  channels: number,
  kernel: number,
  { stride, padding = 0 }: { readonly stride: number; readonly padding?: number },
): Layer {
  return (x) => {
    const inputs = fixed(x, 1);
    const size = (axis: number) => (fixed(x, axis) - 1) * stride - 2 * padding + kernel;
    const weights = [
      weight(x.graph, [inputs, channels, kernel, kernel], (inputs * kernel ** 2) / stride ** 2),
      bias(x.graph, channels),
    ];
    const output = { elementType: x.elementType, dims: [dimension(x, 0), channels, size(2), size(3)] };
    return x.graph.apply('ConvTranspose', [x, ...weights], output, [
      ints('dilations', [1, 1]),
      int('group', 1),
      ints('kernel_shape', [kernel, kernel]),
      ints('pads', [padding, padding, padding, padding]),
      ints('strides', [stride, stride]),
    ]);
  };
}

export function batchNorm(epsilon = 1e-5): Layer {
  return (x) => {
    const { graph } = x;
    const channels = fixed(x, 1);
    const mean = graph.weight('mean', [channels], -0.1, 0.1);
    const variance = graph.weight('variance', [channels], 0.9, 1.1);
    const inputs = [x, scale(graph, channels), bias(graph, channels), mean, variance];
    return graph.apply('BatchNormalization', inputs, x, [float('epsilon', epsilon), float('momentum', 0.9)]);
  };
}

export const relu6: Layer = (x) => x.graph.apply('Clip', [x, x.graph.scalar('min', 0), x.graph.scalar('max', 6)], x);

export function convNormRelu(
  channels: number,
  kernel: Size,
  options: ConvolutionOptions & { readonly epsilon?: number | undefined } = {},
): Layer {
  return chain(conv(channels, kernel, { ...options, bias: false }), batchNorm(options.epsilon), relu);
}

/** Keeps the size. */
export function normReluConv(channels: number, kernel: number): Layer {
  return chain(batchNorm(), relu, conv(channels, kernel, { padding: (kernel - 1) / 2, bias: false }));
}

export function maxPool(kernel: Size, options: PoolOptions = {}): Layer {
  return (x) => {
    const { size, attributes } = slide(x, kernel, options);
    const output = { elementType: x.elementType, dims: [...x.dims.slice(0, 2), ...size] };
    return x.graph.apply('MaxPool', [x], output, [int('ceil_mode', options.ceil === true ? 1 : 0), ...attributes]);
  };
}

export function averagePool(kernel: Size, options: Window = {}): Layer {
  return (x) => {
    const { size, attributes } = slide(x, kernel, options);
    const output = { elementType: x.elementType, dims: [...x.dims.slice(0, 2), ...size] };
    return x.graph.apply('AveragePool', [x], output, [int('count_include_pad', 1), ...attributes]);
  };
}

export const globalAveragePool: Layer = (x) =>
  x.graph.apply('GlobalAveragePool', [x], { elementType: x.elementType, dims: [...x.dims.slice(0, 2), 1, 1] });

export function linear(features: number): Layer {
  return (x) => {
    const inputs = fixed(x, 1);
    const weights = [weight(x.graph, [features, inputs], inputs), bias(x.graph, features)];
    const output = { elementType: x.elementType, dims: [dimension(x, 0), features] };
    return x.graph.apply('Gemm', [x, ...weights], output, [int('transB', 1)]);
  };
}

export function branches(first: Layer, ...others: readonly Layer[]): Layer {
  return (x) => concat(1, [first(x), ...others.map((branch) => branch(x))]);
}

export function residual(body: Layer, shortcut: Layer = (x) => x): Layer {
  return (x) => add(body(x), shortcut(x));
}
