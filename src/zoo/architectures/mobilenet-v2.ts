import { fixed } from '../builder.js';
import { batchNorm, conv, type Padding, relu6, residual } from '../convolution.js';
import { chain, type Layer } from '../tensor.js';
import { imageClassifier, imageScores, torchvisionClassifier } from './image-classifier.js';

function pointwise(channels: number): Layer {
  return chain(conv(channels, 1, { bias: false }), batchNorm(), relu6);
}

function depthwise(stride: number, padding: Padding): Layer {
  return (x) => {
    const groups = fixed(x, 1);
    return chain(conv(groups, 3, { stride, padding, groups, bias: false }), batchNorm(), relu6)(x);
  };
}

/** Table 1 and figure 4d. */
function invertedResidual(factor: number, channels: number, stride: number, padding: Padding): Layer {
  return (x) => {
    const inputs = fixed(x, 1);
    const body = chain(
      ...(factor === 1 ? [] : [pointwise(factor * inputs)]),
      depthwise(stride, padding),
      conv(channels, 1, { bias: false }),
      batchNorm(),
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

/** `strided` is the padding of 3x3 convolutions with a stride of two. */
export function mobilenetV2Features({ first, rows, last }: MobilenetV2Channels, strided: Padding): Layer {
  const bottlenecks = ROWS.flatMap(([t, n, s], row) =>
    Array.from({ length: n }, (_, i) => {
      const stride = i === 0 ? s : 1;
      return invertedResidual(t, rows[row] ?? last, stride, stride === 1 ? 1 : strided);
    }),
  );
  return chain(
    conv(first, 3, { stride: 2, padding: strided, bias: false }),
    batchNorm(),
    relu6,
    ...bottlenecks,
    pointwise(last),
  );
}

export const mobilenetV2 = torchvisionClassifier('MobileNet_V2_Weights', {
  name: 'mobilenet_v2',
  title: 'MobileNet v2',
  paper: 'Sandler et al., MobileNetV2: Inverted Residuals and Linear Bottlenecks, CVPR 2018, arXiv:1801.04381',
  parameters: 3_504_872,
  multiplyAccumulates: 301_000_000,
  define: imageClassifier(
    224,
    chain(mobilenetV2Features({ first: 32, rows: [16, 24, 32, 64, 96, 160, 320], last: 1280 }, 1), imageScores),
  ),
});
