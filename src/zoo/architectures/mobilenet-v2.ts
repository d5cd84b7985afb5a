import { fixed } from '../builder.js';
import { convNorm, type Padding, relu6, residual } from '../convolution.js';
import { chain, imageNetwork, type Layer, strided } from '../tensor.js';
import { imageScores, torchvisionClassifiers } from './torchvision.js';

function pointwise(channels: number): Layer {
  return chain(convNorm(channels, 1), relu6);
}

function depthwise(stride: number, padding: Padding): Layer {
  return (x) => {
    const groups = fixed(x, 1);
    return chain(convNorm(groups, 3, { stride, padding, groups }), relu6)(x);
  };
}

/** Table 1 and figure 4d. */
function invertedResidual(factor: number, channels: number, stride: number, padding: Padding): Layer {
  return (x) => {
    const inputs = fixed(x, 1);
    const body = chain(
      ...(factor === 1 ? [] : [pointwise(factor * inputs)]),
      depthwise(stride, padding),
      convNorm(channels, 1),
    );
    return stride === 1 && inputs === channels ? residual(body)(x) : body(x);
  };
}

/** The paper's table 2 without channels: t, n, s. */
const ROWS = [
  [1, 1, 1],
  [6, 2, 2],
  [6, 3, 2],
  [6, 4, 2],
  [6, 3, 1],
  [6, 3, 2],
  [6, 1, 1],
] as const;

interface MobilenetV2Channels {
  readonly first: number;
  readonly rows: readonly number[];
  readonly last: number;
}

/** @param padding of 3x3 convolutions with a stride of two */
export function mobilenetV2Features({ first, rows, last }: MobilenetV2Channels, padding: Padding): Layer {
  const bottlenecks = ROWS.map(([t, n, s], row) =>
    strided(n, s, (stride) => invertedResidual(t, rows[row] ?? last, stride, stride === 1 ? 1 : padding)),
  );
  return chain(convNorm(first, 3, { stride: 2, padding }), relu6, ...bottlenecks, pointwise(last));
}

const CHANNELS = { first: 32, rows: [16, 24, 32, 64, 96, 160, 320], last: 1280 };

const network = imageNetwork(224, mobilenetV2Features(CHANNELS, 1), imageScores);

export const MOBILENET_V2 = torchvisionClassifiers(
  'Sandler et al., MobileNetV2: Inverted Residuals and Linear Bottlenecks, CVPR 2018, arXiv:1801.04381',
  ['mobilenet_v2', 'MobileNet v2', 'MobileNet_V2_Weights', 3_504_872, 301_000_000, network],
);
