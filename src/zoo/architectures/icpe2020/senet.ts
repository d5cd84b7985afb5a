import { fixed, type Network } from '../../builder.js';
import { averagePool, convNorm, convNormRelu, linear } from '../../convolution.js';
import { asImage, channelMean } from '../../shaping.js';
import { chain, imageNetwork, type Layer, mul, relu, sigmoid } from '../../tensor.js';
import { type Block, type Depths, residualBlock, stages } from '../resnet.js';
import { pooledClasses } from './classes.js';
import { paddedPool } from './inception-v1.js';

const EPSILON = 1e-4;

/** The paper's figure 1. */
function squeezeAndExcite(channels: number): Layer {
  return (x) => {
    const scales = chain(channelMean, linear(channels / 16), relu, linear(channels), sigmoid)(x);
    return mul(asImage(fixed(x, 2), fixed(x, 3))(scales), x);
  };
}

/** With a 3x3 projection where the image shrinks. */
const block: Block = (width, stride) => {
  const channels = 2 * width;
  const body = chain(
    convNormRelu(width, 1, { epsilon: EPSILON }),
    convNormRelu(channels, 3, { stride, padding: 1, groups: 64, epsilon: EPSILON }),
    convNorm(channels, 1, { epsilon: EPSILON }),
    squeezeAndExcite(channels),
  );
  const [kernel, padding] = stride === 1 ? [1, 0] : [3, 1];
  return residualBlock(channels, stride, body, convNorm(channels, kernel, { stride, padding, epsilon: EPSILON }));
};

export function senet(depths: Depths = [3, 8, 36, 3], size = 224): Network {
  return imageNetwork(
    size,
    convNormRelu(64, 3, { stride: 2, padding: 1, epsilon: EPSILON }),
    convNormRelu(64, 3, { padding: 1, epsilon: EPSILON }),
    convNormRelu(128, 3, { padding: 1, epsilon: EPSILON }),
    paddedPool,
    stages(block, 128, depths),
    averagePool(size / 32),
    pooledClasses(1000, { dropout: true }),
  );
}
