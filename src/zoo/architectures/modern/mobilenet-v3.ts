import { hardSigmoid, hardSwish } from '../../activation.js';
import { fixed } from '../../builder.js';
import { convNorm, globalAveragePool, linear, residual } from '../../convolution.js';
import { chain, flatten, imageNetwork, type Layer, relu } from '../../tensor.js';
import { torchvisionClassifiers } from '../torchvision.js';
import { squeezeAndExcite } from './squeeze-and-excite.js';

type Row = readonly [kernel: number, middle: number, channels: number, se: boolean, activation: 'RE' | 'HS', s: number];

function convolution(channels: number, kernel: number, stride = 1, groups = 1): Layer {
  return convNorm(channels, kernel, { stride, padding: (kernel - 1) / 2, groups, epsilon: 1e-3 });
}

/** The nearest multiple of eight that is not much smaller. */
function roundedToEights(channels: number): number {
  const rounded = Math.max(8, Math.floor((channels + 4) / 8) * 8);
  return rounded < 0.9 * channels ? rounded + 8 : rounded;
}

function bottleneck([kernel, middle, channels, hasExcitation, activation, stride]: Row): Layer {
  const activate = activation === 'RE' ? relu : hardSwish;
  const excite = squeezeAndExcite(roundedToEights(middle / 4), { gate: hardSigmoid });
  return (x) => {
    const inputs = fixed(x, 1);
    const body = chain(
      ...(middle === inputs ? [] : [convolution(middle, 1), activate]),
      convolution(middle, kernel, stride, middle),
      activate,
      ...(hasExcitation ? [excite] : []),
      convolution(channels, 1),
    );
    return stride === 1 && inputs === channels ? residual(body)(x) : body(x);
  };
}

const LARGE: readonly Row[] = [
  [3, 16, 16, false, 'RE', 1],
  [3, 64, 24, false, 'RE', 2],
  [3, 72, 24, false, 'RE', 1],
  [5, 72, 40, true, 'RE', 2],
  [5, 120, 40, true, 'RE', 1],
  [5, 120, 40, true, 'RE', 1],
  [3, 240, 80, false, 'HS', 2],
  [3, 200, 80, false, 'HS', 1],
  [3, 184, 80, false, 'HS', 1],
  [3, 184, 80, false, 'HS', 1],
  [3, 480, 112, true, 'HS', 1],
  [3, 672, 112, true, 'HS', 1],
  [5, 672, 160, true, 'HS', 2],
  [5, 960, 160, true, 'HS', 1],
  [5, 960, 160, true, 'HS', 1],
];

export function mobilenetV3(size: number) {
  return imageNetwork(
    size,
    convolution(16, 3, 2),
    hardSwish,
    ...LARGE.map(bottleneck),
    convolution(960, 1),
    hardSwish,
    globalAveragePool,
    flatten,
    linear(1280),
    hardSwish,
    linear(1000),
  );
}

const network = mobilenetV3(224);

export const MOBILENET_V3 = torchvisionClassifiers(
  'Howard et al., Searching for MobileNetV3, ICCV 2019, arXiv:1905.02244',
  ['mobilenet_v3_large', 'MobileNet v3 large', 'MobileNet_V3_Large_Weights', 5_483_032, 217_000_000, network],
);
