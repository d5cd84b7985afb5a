import { conv, linear, maxPool } from '../convolution.js';
import { flatten, imageNetwork, relu } from '../tensor.js';
import { torchvisionClassifiers } from './torchvision.js';

/** Without local response normalization. */
const network = imageNetwork(
  224,
  conv(64, 11, { stride: 4, padding: 2 }),
  relu,
  maxPool(3, { stride: 2 }),
  conv(192, 5, { padding: 2 }),
  relu,
  maxPool(3, { stride: 2 }),
  conv(384, 3, { padding: 1 }),
  relu,
  conv(256, 3, { padding: 1 }),
  relu,
  conv(256, 3, { padding: 1 }),
  relu,
  maxPool(3, { stride: 2 }),
  flatten,
  linear(4096),
  relu,
  linear(4096),
  relu,
  linear(1000),
);

const PAPER = 'Krizhevsky, One weird trick for parallelizing convolutional neural networks, arXiv:1404.5997, 2014';

export const ALEXNET = torchvisionClassifiers(PAPER, [
  'alexnet',
  'AlexNet',
  'AlexNet_Weights',
  61_100_840,
  714_000_000,
  network,
]);
