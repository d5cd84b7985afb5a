import { conv, maxPool } from '../../convolution.js';
import { channelMean } from '../../shaping.js';
import { dropout, flatten, imageNetwork, relu, softmax } from '../../tensor.js';
import { squeezenetFeatures } from '../squeezenet.js';
import type { Network } from '../../builder.js';
import { paddedPool } from './inception-v1.js';

export function squeezenet11(size = 227): Network {
  return imageNetwork(
    size,
    squeezenetFeatures(maxPool(3, { stride: 2 }), paddedPool),
    dropout,
    conv(1000, 1),
    relu,
    channelMean,
    flatten,
    softmax,
  );
}
