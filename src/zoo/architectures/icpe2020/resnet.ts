import { averagePool, batchNorm, conv, convNormRelu, maxPool, shortcutTo } from '../../convolution.js';
import { channelMean, pad } from '../../shaping.js';
import { add, chain, flatten, imageNetwork, type Layer, relu } from '../../tensor.js';
import { type Depths, makeBottleneck, stages } from '../resnet.js';
import type { Network } from '../../builder.js';
import { classes, pooledClasses } from './classes.js';

/** With the stride in the first convolution of a block and Caffe's pool. */
function caffe(labels: number, depths: Depths, firstBlock: number, size: number, width: number): Network {
  return imageNetwork(
    size,
    convNormRelu(width, 7, { stride: 2, padding: 3, epsilon: 1e-4 }),
    pad('edge', 0, 1),
    maxPool(3, { stride: 2 }),
    stages(makeBottleneck({ strideFirst: true, epsilon: 1e-4 }), firstBlock, depths),
    averagePool(size / 32),
    pooledClasses(labels),
  );
}

export function resnet(labels: number, depths: Depths, { size = 224, width = 64 } = {}): Network {
  return caffe(labels, depths, width, size, width);
}

export function openNsfw({ size = 224, width = 64 } = {}): Network {
  return caffe(2, [3, 4, 6, 3], width / 2, size, width);
}

/** Zagoruyko and Komodakis, arXiv:1605.07146: the 3x3 convolutions of ResNet-50 twice as wide. */
export function wideResnet({ size = 224, width = 64 } = {}): Network {
  return imageNetwork(
    size,
    convNormRelu(width, 7, { stride: 2, padding: 3 }),
    maxPool(3, { stride: 2, padding: 1 }),
    stages(makeBottleneck({ expansion: 2 }), 2 * width, [3, 4, 6, 3]),
    averagePool(size / 32),
    flatten,
    classes(1000),
  );
}

const EPSILON = 2e-5;
const normRelu = chain(batchNorm(EPSILON), relu);

/** He et al., arXiv:1603.05027. The projection reads the first normalized value. */
function preactivated(width: number, stride: number): Layer {
  return (x) => {
    const input = normRelu(x);
    const body = chain(
      conv(width, 1, { bias: false }),
      normRelu,
      conv(width, 3, { stride, padding: 1, bias: false }),
      normRelu,
      conv(4 * width, 1, { bias: false }),
    );
    const projection: Layer = () => conv(4 * width, 1, { stride, bias: false })(input);
    return add(body(input), shortcutTo(4 * width, stride, projection)(x));
  };
}

export function preactivatedResnet(labels: number, depths: Depths, { size = 224, width = 64 } = {}): Network {
  return imageNetwork(
    size,
    batchNorm(EPSILON),
    conv(width, 7, { stride: 2, padding: 3, bias: false }),
    normRelu,
    maxPool(3, { stride: 2, padding: 1 }),
    stages(preactivated, width, depths),
    normRelu,
    channelMean,
    classes(labels),
  );
}
