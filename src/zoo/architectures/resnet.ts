import { convNorm, convNormRelu, maxPool, residual, shortcutTo } from '../convolution.js';
import { chain, imageNetwork, type Layer, relu, strided } from '../tensor.js';
import { imageScores, torchvisionClassifiers } from './torchvision.js';

export type Depths = readonly [number, number, number, number];

export type Block = (width: number, stride: number) => Layer;

export function projectionTo(channels: number, stride: number, epsilon?: number): Layer {
  return convNorm(channels, 1, { stride, epsilon });
}

/** With a projection shortcut where the shape changes (option B). */
export function residualBlock(channels: number, stride: number, body: Layer, projection: Layer): Layer {
  return chain(residual(body, shortcutTo(channels, stride, projection)), relu);
}

/** Figure 5, left. */
const basic: Block = (width, stride) => {
  const body = chain(convNormRelu(width, 3, { stride, padding: 1 }), convNorm(width, 3, { padding: 1 }));
  return residualBlock(width, stride, body, projectionTo(width, stride));
};

/**
 * Figure 5, right.
 *
 * @param options.expansion of the output's channels to those of the 3x3 convolution
 * @param options.strideFirst as in the paper; frameworks have the stride in the 3x3 convolution ("v1.5")
 */
export function makeBottleneck({
  expansion = 4,
  strideFirst = false,
  groups = 1,
  dilation = 1,
  epsilon = 1e-5,
} = {}): Block {
  return (width, stride) => {
    const channels = expansion * width;
    const body = chain(
      convNormRelu(width, 1, { stride: strideFirst ? stride : 1, epsilon }),
      convNormRelu(width, 3, { stride: strideFirst ? 1 : stride, padding: dilation, dilation, groups, epsilon }),
      convNorm(channels, 1, { epsilon }),
    );
    return residualBlock(channels, stride, body, projectionTo(channels, stride, epsilon));
  };
}

const bottleneck = makeBottleneck();

/** Each stage has twice the width of the one before, and all except the first halve the image. */
export function stages(block: Block, width: number, depths: readonly number[]): Layer {
  const stage = (depth: number, i: number): Layer =>
    strided(depth, i === 0 ? 1 : 2, (stride) => block(width * 2 ** i, stride));
  return chain(...depths.map(stage));
}

function resnet(block: Block, depths: Depths) {
  return imageNetwork(
    224,
    convNormRelu(64, 7, { stride: 2, padding: 3 }),
    maxPool(3, { stride: 2, padding: 1 }),
    stages(block, 64, depths),
    imageScores,
  );
}

export const RESNETS = torchvisionClassifiers(
  'He et al., Deep Residual Learning for Image Recognition, CVPR 2016, arXiv:1512.03385',
  ['resnet18', 'ResNet-18', 'ResNet18_Weights', 11_689_512, 1_814_000_000, resnet(basic, [2, 2, 2, 2])],
  ['resnet34', 'ResNet-34', 'ResNet34_Weights', 21_797_672, 3_664_000_000, resnet(basic, [3, 4, 6, 3])],
  ['resnet50', 'ResNet-50', 'ResNet50_Weights', 25_557_032, 4_089_000_000, resnet(bottleneck, [3, 4, 6, 3])],
  ['resnet101', 'ResNet-101', 'ResNet101_Weights', 44_549_160, 7_801_000_000, resnet(bottleneck, [3, 4, 23, 3])],
);
