import { fixed } from '../../builder.js';
import { conv, globalAveragePool, linear } from '../../convolution.js';
import { channelsFirst, channelsLast } from '../../shaping.js';
import { add, chain, flatten, imageNetwork, type Layer, mul, repeated } from '../../tensor.js';
import { dense, gelu, layerNorm } from '../../transformer.js';
import { torchvisionClassifiers } from '../torchvision.js';

const norm = layerNorm(1e-6);

const imageNorm = chain(channelsLast, norm, channelsFirst);

/** Figure 4 of the paper, with a learned scale for each channel. */
const block: Layer = (x) => {
  const channels = fixed(x, 1);
  const depthwise = conv(channels, 7, { padding: 3, groups: channels });
  const body = chain(depthwise, channelsLast, norm, dense(4 * channels), gelu, dense(channels), channelsFirst)(x);
  return add(mul(x.graph.weight('layer_scale', [channels, 1, 1], 0.05, 0.1), body), x);
};

interface ConvnextOptions {
  readonly depths: readonly [number, number, number, number];
  readonly width: number;
  readonly size?: number;
}

export function convnext({ depths, width, size = 224 }: ConvnextOptions) {
  const stages = depths.map((depth, i) =>
    chain(...(i === 0 ? [] : [imageNorm, conv(width * 2 ** i, 2, { stride: 2 })]), repeated(depth, block)),
  );
  return imageNetwork(
    size,
    conv(width, 4, { stride: 4 }),
    imageNorm,
    ...stages,
    globalAveragePool,
    imageNorm,
    flatten,
    linear(1000),
  );
}

const tiny = convnext({ depths: [3, 3, 9, 3], width: 96 });

export const CONVNEXT = torchvisionClassifiers('Liu et al., A ConvNet for the 2020s, CVPR 2022, arXiv:2201.03545', [
  'convnext_tiny',
  'ConvNeXt-T',
  'ConvNeXt_Tiny_Weights',
  28_589_128,
  4_456_000_000,
  tiny,
]);
