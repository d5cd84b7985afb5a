import { fixed } from '../../builder.js';
import { convNorm, convNormRelu } from '../../convolution.js';
import { chain, imageNetwork, type Layer, strided } from '../../tensor.js';
import { projectionTo, residualBlock } from '../resnet.js';
import { imageScores, torchvisionClassifiers } from '../torchvision.js';
import { squeezeAndExcite } from './squeeze-and-excite.js';

interface RegnetOptions {
  readonly stages: readonly (readonly [channels: number, depth: number])[];
  /** Channels of a group. */
  readonly groupWidth: number;
  readonly size?: number;
}

/** The paper's Y block. */
function block(channels: number, stride: number, groupWidth: number): Layer {
  const body: Layer = (x) =>
    chain(
      convNormRelu(channels, 1),
      convNormRelu(channels, 3, { stride, padding: 1, groups: channels / groupWidth }),
      squeezeAndExcite(Math.round(fixed(x, 1) / 4)),
      convNorm(channels, 1),
    )(x);
  return residualBlock(channels, stride, body, projectionTo(channels, stride));
}

export function regnetY({ stages, groupWidth, size = 224 }: RegnetOptions) {
  const blocks = stages.map(([channels, depth]) => strided(depth, 2, (stride) => block(channels, stride, groupWidth)));
  return imageNetwork(size, convNormRelu(32, 3, { stride: 2, padding: 1 }), ...blocks, imageScores);
}

const network = regnetY({
  stages: [
    [64, 1],
    [144, 3],
    [320, 8],
    [784, 2],
  ],
  groupWidth: 16,
});

export const REGNET = torchvisionClassifiers(
  'Radosavovic et al., Designing Network Design Spaces, CVPR 2020, arXiv:2003.13678',
  ['regnet_y_800mf', 'RegNetY-800MF', 'RegNet_Y_800MF_Weights', 6_432_512, 834_000_000, network],
);
