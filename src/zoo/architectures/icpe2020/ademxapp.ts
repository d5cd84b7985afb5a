import { fixed, type Network } from '../../builder.js';
import { batchNorm, conv, maxPool } from '../../convolution.js';
import { channelMean, channelsLast } from '../../shaping.js';
import { classes } from './classes.js';
import { add, chain, dropout, imageNetwork, type Layer, relu, repeated, softmax } from '../../tensor.js';

const EPSILON = 1.001e-5;

const normRelu = chain(batchNorm(EPSILON), relu);

function convolution(channels: number, kernel: number, { stride = 1, dilation = 1 } = {}): Layer {
  return conv(channels, kernel, { stride, dilation, padding: ((kernel - 1) / 2) * dilation, bias: false });
}

interface UnitOptions {
  readonly stride?: number;
  /** Dilations of the 3x3 convolutions, in their order. */
  readonly dilations?: readonly [number, number];
  readonly dropout?: boolean;
}

/**
 * Normalization comes before each convolution, and before the projection where the shape changes (the paper's figure
 * 3).
 */
function unit(layers: readonly Layer[], channels: number, stride: number): Layer {
  return (x) => {
    const input = normRelu(x);
    const keepsShape = stride === 1 && fixed(x, 1) === channels;
    const shortcut = keepsShape ? x : convolution(channels, 1, { stride })(input);
    return add(chain(...layers)(input), shortcut);
  };
}

function pairUnit(middle: number, channels: number, options: UnitOptions = {}): Layer {
  const { stride = 1, dilations = [1, 1] } = options;
  const first = convolution(middle, 3, { stride, dilation: dilations[0] });
  return unit([first, normRelu, convolution(channels, 3, { dilation: dilations[1] })], channels, stride);
}

/** 1x1 to a quarter of the channels, 3x3 to a half, 1x1. */
function bottleneckUnit(channels: number, { dilations = [1, 1], dropout: drops = false }: UnitOptions = {}): Layer {
  const layers = [
    convolution(channels / 4, 1),
    normRelu,
    convolution(channels / 2, 3, { dilation: dilations[0] }),
    normRelu,
    ...(drops ? [dropout] : []),
    convolution(channels, 1),
  ];
  return unit(layers, channels, 1);
}

const shrink = maxPool(3, { stride: 2, padding: 1 });

/** Model A of Wu et al., Wider or Deeper, arXiv:1611.10080, for classification. */
export function ademxappA(labels: number, { size = 320, width = 64 } = {}): Network {
  return imageNetwork(
    size,
    convolution(width, 3),
    shrink,
    repeated(3, pairUnit(2 * width, 2 * width)),
    shrink,
    repeated(3, pairUnit(4 * width, 4 * width)),
    shrink,
    repeated(6, pairUnit(8 * width, 8 * width)),
    shrink,
    repeated(3, pairUnit(8 * width, 16 * width)),
    shrink,
    bottleneckUnit(32 * width),
    bottleneckUnit(64 * width),
    normRelu,
    channelMean,
    classes(labels),
  );
}

/** Model A1 of the same, for segmentation: strides instead of pools, then dilations. */
export function ademxappA1(labels: number, { size = 504, width = 64 } = {}): Network {
  return imageNetwork(
    size,
    convolution(width, 3),
    pairUnit(2 * width, 2 * width, { stride: 2 }),
    repeated(2, pairUnit(2 * width, 2 * width)),
    pairUnit(4 * width, 4 * width, { stride: 2 }),
    repeated(2, pairUnit(4 * width, 4 * width)),
    pairUnit(8 * width, 8 * width, { stride: 2 }),
    repeated(5, pairUnit(8 * width, 8 * width)),
    pairUnit(8 * width, 16 * width, { dilations: [1, 2] }),
    repeated(2, pairUnit(8 * width, 16 * width, { dilations: [2, 2] })),
    bottleneckUnit(32 * width, { dilations: [4, 4], dropout: true }),
    bottleneckUnit(64 * width, { dilations: [4, 4], dropout: true }),
    normRelu,
    conv(8 * width, 3, { padding: 12, dilation: 12 }),
    relu,
    conv(labels, 3, { padding: 12, dilation: 12 }),
    channelsLast,
    softmax,
  );
}
