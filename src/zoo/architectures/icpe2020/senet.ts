import { fixed } from '../../builder.js';
import { averagePool, batchNorm, conv, convNormRelu, linear } from '../../convolution.js';
import { asImage, channelMean } from '../../shaping.js';
import { chain, type Layer, mul, relu, sigmoid } from '../../tensor.js';
import { type Block, stages } from '../resnet.js';
import { paddedPool } from './inception-v1.js';
import { imageNetwork, type Network, pooledClasses } from './network.js';

const EPSILON = 1e-4;

/** The paper's figure 1. */
function squeezeAndExcite(channels: number): Layer {
  return (x) => {
    const scales = chain(channelMean, linear(channels / 16), relu, linear(channels), sigmoid)(x);
    return mul(asImage(fixed(x, 2), fixed(x, 3))(scales), x);
  };
}

/** With a 3x3 projection where the image shrinks. */
const block: Block = (width, stride) => ({
  channels: 2 * width,
  body: chain(
    convNormRelu(width, 1, { epsilon: EPSILON }),
    convNormRelu(2 * width, 3, { stride, padding: 1, groups: 64, epsilon: EPSILON }),
    conv(2 * width, 1, { bias: false }),
    batchNorm(EPSILON),
    squeezeAndExcite(2 * width),
  ),
  projection: chain(
    conv(2 * width, stride === 1 ? 1 : 3, { stride, padding: stride === 1 ? 0 : 1, bias: false }),
    batchNorm(EPSILON),
  ),
});

interface SenetOptions {
  readonly size?: number;
  readonly depths?: readonly [number, number, number, number];
}

export function senet({ size = 224, depths = [3, 8, 36, 3] }: SenetOptions = {}): Network {
  return imageNetwork(
    [3, size, size],
    chain(
      convNormRelu(64, 3, { stride: 2, padding: 1, epsilon: EPSILON }),
      convNormRelu(64, 3, { padding: 1, epsilon: EPSILON }),
      convNormRelu(128, 3, { padding: 1, epsilon: EPSILON }),
      paddedPool,
      stages(block, 128, depths),
      averagePool(size / 32),
      pooledClasses(1000, { dropout: true }),
    ),
  );
}
