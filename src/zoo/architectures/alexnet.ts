import { conv, linear, maxPool } from '../convolution.js';
import type { ZooEntry } from '../entry.js';
import { chain, flatten, relu } from '../tensor.js';
import { imageClassifier, torchvision } from './image-classifier.js';

/** The single-column variant without local response normalization, the one with a well-known parameter count. */
export const alexnet: ZooEntry = {
  name: 'alexnet',
  title: 'AlexNet',
  paper: 'Krizhevsky, One weird trick for parallelizing convolutional neural networks, arXiv:1404.5997, 2014',
  published: {
    parameters: 61_100_840,
    multiplyAccumulates: 714_000_000,
    source: torchvision('AlexNet_Weights'),
  },
  dimensions: { batch: 1 },
  define: imageClassifier(
    224,
    chain(
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
    ),
  ),
};
