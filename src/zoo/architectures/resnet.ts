import { fixed } from '../builder.js';
import { batchNorm, conv, convNormRelu, maxPool, residual } from '../convolution.js';
import { chain, type Layer, relu } from '../tensor.js';
import { imageClassifier, imageScores, torchvisionClassifier } from './image-classifier.js';

const PAPER = 'He et al., Deep Residual Learning for Image Recognition, CVPR 2016, arXiv:1512.03385';

interface BlockParts {
  readonly channels: number;
  readonly body: Layer;
  readonly projection: Layer;
}

export type Block = (width: number, stride: number) => BlockParts;

function projectionTo(channels: number, stride: number, epsilon?: number): Layer {
  return chain(conv(channels, 1, { stride, bias: false }), batchNorm(epsilon));
}

/** Figure 5, left. */
const basic: Block = (width, stride) => ({
  channels: width,
  body: chain(convNormRelu(width, 3, { stride, padding: 1 }), conv(width, 3, { padding: 1, bias: false }), batchNorm()),
  projection: projectionTo(width, stride),
});

interface BottleneckOptions {
  /** Of the output's channels to those of the 3x3 convolution. */
  readonly expansion?: number;
  /** As in the paper; frameworks have the stride in the 3x3 convolution ("v1.5"). */
  readonly strideFirst?: boolean;
  readonly groups?: number;
  readonly epsilon?: number;
}

/** Figure 5, right. */
export function makeBottleneck(options: BottleneckOptions = {}): Block {
  const { expansion = 4, strideFirst = false, groups = 1, epsilon } = options;
  return (width, stride) => ({
    channels: expansion * width,
    body: chain(
      convNormRelu(width, 1, { stride: strideFirst ? stride : 1, epsilon }),
      convNormRelu(width, 3, { stride: strideFirst ? 1 : stride, padding: 1, groups, epsilon }),
      conv(expansion * width, 1, { bias: false }),
      batchNorm(epsilon),
    ),
    projection: projectionTo(expansion * width, stride, epsilon),
  });
}

const bottleneck = makeBottleneck();

/** With a projection shortcut where the shape changes (option B). */
export function stage(block: Block, width: number, depth: number, firstStride: number): Layer {
  const blocks = Array.from({ length: depth }, (_, i): Layer => {
    const stride = i === 0 ? firstStride : 1;
    const { body, channels, projection } = block(width, stride);
    return (x) => {
      const keepsShape = stride === 1 && fixed(x, 1) === channels;
      return relu(residual(body, keepsShape ? undefined : projection)(x));
    };
  });
  return chain(...blocks);
}

/** Each stage has twice the width of the one before, and all except the first halve the image. */
export function stages(block: Block, width: number, depths: readonly [number, number, number, number]): Layer {
  return chain(...depths.map((depth, i) => stage(block, width * 2 ** i, depth, i === 0 ? 1 : 2)));
}

function resnet(block: Block, depths: readonly [number, number, number, number]) {
  return imageClassifier(
    224,
    chain(
      convNormRelu(64, 7, { stride: 2, padding: 3 }),
      maxPool(3, { stride: 2, padding: 1 }),
      stages(block, 64, depths),
      imageScores,
    ),
  );
}

export const resnet18 = torchvisionClassifier('ResNet18_Weights', {
  name: 'resnet18',
  title: 'ResNet-18',
  paper: PAPER,
  parameters: 11_689_512,
  multiplyAccumulates: 1_814_000_000,
  define: resnet(basic, [2, 2, 2, 2]),
});

export const resnet34 = torchvisionClassifier('ResNet34_Weights', {
  name: 'resnet34',
  title: 'ResNet-34',
  paper: PAPER,
  parameters: 21_797_672,
  multiplyAccumulates: 3_664_000_000,
  define: resnet(basic, [3, 4, 6, 3]),
});

export const resnet50 = torchvisionClassifier('ResNet50_Weights', {
  name: 'resnet50',
  title: 'ResNet-50',
  paper: PAPER,
  parameters: 25_557_032,
  multiplyAccumulates: 4_089_000_000,
  define: resnet(bottleneck, [3, 4, 6, 3]),
});

export const resnet101 = torchvisionClassifier('ResNet101_Weights', {
  name: 'resnet101',
  title: 'ResNet-101',
  paper: PAPER,
  parameters: 44_549_160,
  multiplyAccumulates: 7_801_000_000,
  define: resnet(bottleneck, [3, 4, 23, 3]),
});
