import { conv, linear, maxPool } from '../convolution.js';
import { chain, flatten, relu } from '../tensor.js';
import { imageClassifier, torchvisionClassifier } from './image-classifier.js';

/** Without local response normalization. */
export const alexnet = torchvisionClassifier('AlexNet_Weights', {
  name: 'alexnet',
  title: 'AlexNet',
  paper: 'Krizhevsky, One weird trick for parallelizing convolutional neural networks, arXiv:1404.5997, 2014',
  parameters: 61_100_840,
  multiplyAccumulates: 714_000_000,
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
});
