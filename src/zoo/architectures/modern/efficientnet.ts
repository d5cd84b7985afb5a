import { fixed } from '../../builder.js';
import { convNorm, residual } from '../../convolution.js';
import { chain, imageNetwork, type Layer, silu, strided } from '../../tensor.js';
import { imageScores, torchvisionClassifiers } from '../torchvision.js';
import { squeezeAndExcite } from './squeeze-and-excite.js';

export type StageRow = readonly [
  block: 'MBConv' | 'Fused-MBConv',
  expansion: number,
  kernel: number,
  stride: number,
  channels: number,
  depth: number,
];

interface EfficientnetOptions {
  readonly stem: number;
  readonly rows: readonly StageRow[];
  readonly size: number;
  readonly epsilon?: number;
}

export function efficientnet({ stem, rows, size, epsilon = 1e-5 }: EfficientnetOptions) {
  const convolution = (channels: number, kernel: number, stride: number, groups = 1): Layer =>
    convNorm(channels, kernel, { stride, padding: (kernel - 1) / 2, groups, epsilon });

  const mbConv = (inputs: number, [, expansion, kernel, , channels]: StageRow, stride: number): Layer => {
    const middle = expansion * inputs;
    return chain(
      ...(expansion === 1 ? [] : [convolution(middle, 1, 1), silu]),
      convolution(middle, kernel, stride, middle),
      silu,
      squeezeAndExcite(Math.max(1, Math.floor(inputs / 4)), { activation: silu }),
      convolution(channels, 1, 1),
    );
  };

  const fused = (inputs: number, [, expansion, kernel, , channels]: StageRow, stride: number): Layer =>
    expansion === 1
      ? chain(convolution(channels, kernel, stride), silu)
      : chain(convolution(expansion * inputs, kernel, stride), silu, convolution(channels, 1, 1));

  const block = (row: StageRow, stride: number): Layer => {
    return (x) => {
      const [kind, , , , channels] = row;
      const inputs = fixed(x, 1);
      const body = kind === 'MBConv' ? mbConv(inputs, row, stride) : fused(inputs, row, stride);
      return stride === 1 && inputs === channels ? residual(body)(x) : body(x);
    };
  };

  return imageNetwork(
    size,
    convolution(stem, 3, 2),
    silu,
    ...rows.map((row) => strided(row[5], row[3], (stride) => block(row, stride))),
    convolution(1280, 1, 1),
    silu,
    imageScores,
  );
}

const b0 = efficientnet({
  stem: 32,
  size: 224,
  rows: [
    ['MBConv', 1, 3, 1, 16, 1],
    ['MBConv', 6, 3, 2, 24, 2],
    ['MBConv', 6, 5, 2, 40, 2],
    ['MBConv', 6, 3, 2, 80, 3],
    ['MBConv', 6, 5, 1, 112, 3],
    ['MBConv', 6, 5, 2, 192, 4],
    ['MBConv', 6, 3, 1, 320, 1],
  ],
});

const v2S = efficientnet({
  stem: 24,
  size: 384,
  epsilon: 1e-3,
  rows: [
    ['Fused-MBConv', 1, 3, 1, 24, 2],
    ['Fused-MBConv', 4, 3, 2, 48, 4],
    ['Fused-MBConv', 4, 3, 2, 64, 4],
    ['MBConv', 4, 3, 2, 128, 6],
    ['MBConv', 6, 3, 1, 160, 9],
    ['MBConv', 6, 3, 2, 256, 15],
  ],
});

export const EFFICIENTNETS = [
  ...torchvisionClassifiers(
    'Tan and Le, EfficientNet: Rethinking Model Scaling for CNNs, ICML 2019, arXiv:1905.11946',
    ['efficientnet_b0', 'EfficientNet-B0', 'EfficientNet_B0_Weights', 5_288_548, 386_000_000, b0],
  ),
  ...torchvisionClassifiers(
    'Tan and Le, EfficientNetV2: Smaller Models and Faster Training, ICML 2021, arXiv:2104.00298',
    ['efficientnet_v2_s', 'EfficientNetV2-S', 'EfficientNet_V2_S_Weights', 21_458_488, 8_366_000_000, v2S],
  ),
];
