import { fixed } from '../../builder.js';
import { batchNorm, conv, residual } from '../../convolution.js';
import { chain, type Layer, silu } from '../../tensor.js';
import { imageClassifier, imageScores, torchvisionClassifier } from '../image-classifier.js';
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
    chain(conv(channels, kernel, { stride, padding: (kernel - 1) / 2, groups, bias: false }), batchNorm(epsilon));

  const mbConv = (inputs: number, [, expansion, kernel, , channels]: StageRow, stride: number): Layer => {
    const middle = expansion * inputs;
    return chain(
      ...(expansion === 1 ? [] : [convolution(middle, 1, 1), silu]),
      convolution(middle, kernel, stride, middle),
      silu,
      squeezeAndExcite({ squeezed: Math.max(1, Math.floor(inputs / 4)), activation: silu }),
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

  return imageClassifier(
    size,
    chain(
      convolution(stem, 3, 2),
      silu,
      ...rows.flatMap((row) => Array.from({ length: row[5] }, (_, i) => block(row, i === 0 ? row[3] : 1))),
      convolution(1280, 1, 1),
      silu,
      imageScores,
    ),
  );
}

export const efficientnetB0 = torchvisionClassifier('EfficientNet_B0_Weights', {
  name: 'efficientnet_b0',
  title: 'EfficientNet-B0',
  paper: 'Tan and Le, EfficientNet: Rethinking Model Scaling for CNNs, ICML 2019, arXiv:1905.11946',
  parameters: 5_288_548,
  multiplyAccumulates: 386_000_000,
  define: efficientnet({
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
  }),
});

export const efficientnetV2S = torchvisionClassifier('EfficientNet_V2_S_Weights', {
  name: 'efficientnet_v2_s',
  title: 'EfficientNetV2-S',
  paper: 'Tan and Le, EfficientNetV2: Smaller Models and Faster Training, ICML 2021, arXiv:2104.00298',
  parameters: 21_458_488,
  multiplyAccumulates: 8_366_000_000,
  define: efficientnet({
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
  }),
});
