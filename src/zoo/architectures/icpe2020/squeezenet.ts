import { conv, maxPool } from '../../convolution.js';
import { channelMean } from '../../shaping.js';
import { chain, dropout, flatten, relu, softmax } from '../../tensor.js';
import { fire } from '../squeezenet.js';
import { paddedPool } from './inception-v1.js';
import { imageNetwork, type Network } from './network.js';

export function squeezenet11(size = 227): Network {
  return imageNetwork(
    [3, size, size],
    chain(
      conv(64, 3, { stride: 2 }),
      relu,
      maxPool(3, { stride: 2 }),
      fire(16, 64),
      fire(16, 64),
      paddedPool,
      fire(32, 128),
      fire(32, 128),
      paddedPool,
      fire(48, 192),
      fire(48, 192),
      fire(64, 256),
      fire(64, 256),
      dropout,
      conv(1000, 1),
      relu,
      channelMean,
      flatten,
      softmax,
    ),
  );
}
