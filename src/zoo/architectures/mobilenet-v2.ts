import { fixed } from '../builder.js';
import { batchNorm, conv, globalAveragePool, linear, relu6, residual } from '../convolution.js';
import type { ZooEntry } from '../entry.js';
import { chain, flatten, type Layer } from '../tensor.js';
import { imageClassifier, torchvision } from './image-classifier.js';

function pointwise(channels: number): Layer {
  return chain(conv(channels, 1, { bias: false }), batchNorm(), relu6);
}

function depthwise(stride: number): Layer {
  return (x) => {
    const channels = fixed(x, 1);
    return chain(conv(channels, 3, { stride, padding: 1, groups: channels, bias: false }), batchNorm(), relu6)(x);
  };
}

/** Table 1 and figure 4d: expand `factor` times, filter each channel, project without activation. */
function invertedResidual(factor: number, channels: number, stride: number): Layer {
  return (x) => {
    const inputs = fixed(x, 1);
    const body = chain(
      ...(factor === 1 ? [] : [pointwise(factor * inputs)]),
      depthwise(stride),
      conv(channels, 1, { bias: false }),
      batchNorm(),
    );
    return stride === 1 && inputs === channels ? residual(body)(x) : body(x);
  };
}

/** One row of the paper's table 2: t, c, n, s. */
function bottlenecks(t: number, c: number, n: number, s: number): Layer {
  return chain(...Array.from({ length: n }, (_, i) => invertedResidual(t, c, i === 0 ? s : 1)));
}

export const mobilenetV2: ZooEntry = {
  name: 'mobilenet_v2',
  title: 'MobileNet v2',
  paper: 'Sandler et al., MobileNetV2: Inverted Residuals and Linear Bottlenecks, CVPR 2018, arXiv:1801.04381',
  published: {
    parameters: 3_504_872,
    multiplyAccumulates: 301_000_000,
    source: torchvision('MobileNet_V2_Weights'),
  },
  dimensions: { batch: 1 },
  define: imageClassifier(
    224,
    chain(
      conv(32, 3, { stride: 2, padding: 1, bias: false }),
      batchNorm(),
      relu6,
      bottlenecks(1, 16, 1, 1),
      bottlenecks(6, 24, 2, 2),
      bottlenecks(6, 32, 3, 2),
      bottlenecks(6, 64, 4, 2),
      bottlenecks(6, 96, 3, 1),
      bottlenecks(6, 160, 3, 2),
      bottlenecks(6, 320, 1, 1),
      pointwise(1280),
      globalAveragePool,
      flatten,
      linear(1000),
    ),
  ),
};
