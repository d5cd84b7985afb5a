import type { AttributeProto } from '../generated/onnx/onnx.js';
import { float, int, ints } from '../onnx/model/make-attributes.js';
import { dimension, fixed, misshapen, type Value } from './builder.js';
import { bias, scale, weight } from './initialization.js';
import { add, chain, concat, type Layer, relu } from './tensor.js';

/** For each dimension after the channels: of an image, or of a sequence. */
type Size = number | readonly number[];

/** On both sides, or before and after. */
export type Padding = Size | { readonly before: number; readonly after: number };

interface Window {
  readonly stride?: Size;
  readonly padding?: Padding;
}

/** The weights of a layer with `dims[0]` outputs, each of which sums `fanIn` products. */
export type MakeWeights = (x: Value, dims: readonly number[], fanIn: number) => readonly Value[];

const makeWeight: MakeWeights = ({ graph }, dims, fanIn) => [weight(graph, dims, fanIn)];

const makeWeightAndBias: MakeWeights = ({ graph }, dims, fanIn) => [
  weight(graph, dims, fanIn),
  bias(graph, dims[0] ?? 1),
];

export interface ConvolutionOptions extends Window {
  readonly dilation?: number;
  readonly groups?: number;
  readonly bias?: boolean;
  /** Instead of weights in float32. */
  readonly weights?: MakeWeights;
}

interface PoolOptions extends Window {
  readonly ceil?: boolean;
}

function repeat(size: Size, rank: number): readonly number[] {
  return typeof size === 'number' ? Array.from({ length: rank }, () => size) : size;
}

function toPads(padding: Padding, rank: number): readonly number[] {
  const { before, after } =
    typeof padding === 'object' && 'before' in padding ? padding : { before: padding, after: padding };
  return [...repeat(before, rank), ...repeat(after, rank)];
}

function slide(
  x: Value,
  kernel: Size,
  { stride = 1, padding = 0, ceil = false, dilation = 1 }: PoolOptions & ConvolutionOptions,
) {
  const rank = x.dims.length - 2;
  if (rank < 1) throw misshapen(x, 'no height and width');
  const kernels = repeat(kernel, rank);
  const strides = repeat(stride, rank);
  const pads = toPads(padding, rank);
  const round = ceil ? Math.ceil : Math.floor;
  const size = kernels.map((length, axis) => {
    const padded = fixed(x, axis + 2) + (pads[axis] ?? 0) + (pads[axis + rank] ?? 0);
    return round((padded - dilation * (length - 1) - 1) / (strides[axis] ?? 1)) + 1;
  });
  return {
    kernels,
    size,
    attributes: [ints('kernel_shape', kernels), ints('pads', pads), ints('strides', strides)],
  };
}

export function conv(channels: number, kernel: Size, options: ConvolutionOptions = {}): Layer {
  const { groups = 1, bias: biased = true, dilation = 1 } = options;
  const { weights = biased ? makeWeightAndBias : makeWeight } = options;
  return (x) => {
    const { kernels, size, attributes } = slide(x, kernel, options);
    const kernelDims = [fixed(x, 1) / groups, ...kernels];
    const fanIn = kernelDims.reduce((product, dim) => product * dim, 1);
    const output = [dimension(x, 0), channels, ...size];
    return x.graph.apply('Conv', [x, ...weights(x, [channels, ...kernelDims], fanIn)], output, [
      ints('dilations', repeat(dilation, kernels.length)),
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
    return x.graph.apply(
      'ConvTranspose',
      [x, ...weights],
      [dimension(x, 0), channels, size(2), size(3)],
      [
        ints('dilations', [1, 1]),
        int('group', 1),
        ints('kernel_shape', [kernel, kernel]),
        ints('pads', [padding, padding, padding, padding]),
        ints('strides', [stride, stride]),
      ],
    );
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

type NormalizedOptions = ConvolutionOptions & { readonly epsilon?: number | undefined };

export function convNorm(channels: number, kernel: Size, options: NormalizedOptions = {}): Layer {
  return chain(conv(channels, kernel, { ...options, bias: false }), batchNorm(options.epsilon));
}

export function convNormRelu(channels: number, kernel: Size, options: NormalizedOptions = {}): Layer {
  return chain(convNorm(channels, kernel, options), relu);
}

/** Keeps the size. */
export function normReluConv(channels: number, kernel: number): Layer {
  return chain(batchNorm(), relu, conv(channels, kernel, { padding: (kernel - 1) / 2, bias: false }));
}

function pool(operator: string, attribute: AttributeProto, kernel: Size, options: PoolOptions): Layer {
  return (x) => {
    const { size, attributes } = slide(x, kernel, options);
    return x.graph.apply(operator, [x], [...x.dims.slice(0, 2), ...size], [attribute, ...attributes]);
  };
}

export function maxPool(kernel: Size, options: PoolOptions = {}): Layer {
  return pool('MaxPool', int('ceil_mode', options.ceil === true ? 1 : 0), kernel, options);
}

export function averagePool(kernel: Size, options: Window = {}): Layer {
  return pool('AveragePool', int('count_include_pad', 1), kernel, options);
}

export const globalAveragePool: Layer = (x) => x.graph.apply('GlobalAveragePool', [x], [...x.dims.slice(0, 2), 1, 1]);

export function linear(features: number, weights = makeWeightAndBias): Layer {
  return (x) => {
    const inputs = fixed(x, 1);
    const output = [dimension(x, 0), features];
    return x.graph.apply('Gemm', [x, ...weights(x, [features, inputs], inputs)], output, [int('transB', 1)]);
  };
}

export function branches(first: Layer, ...others: readonly Layer[]): Layer {
  return (x) => concat(1, [first(x), ...others.map((branch) => branch(x))]);
}

export function residual(body: Layer, shortcut: Layer = (x) => x): Layer {
  return (x) => add(body(x), shortcut(x));
}

/** The input where it has the shape already, else its projection. */
export function shortcutTo(channels: number, stride: number, projection: Layer): Layer {
  return (x) => (stride === 1 && fixed(x, 1) === channels ? x : projection(x));
}
