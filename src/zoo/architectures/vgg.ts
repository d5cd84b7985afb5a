import { conv, type ConvolutionOptions, linear, maxPool } from '../convolution.js';
import { chain, flatten, type Layer, relu } from '../tensor.js';
import { imageClassifier, torchvisionClassifier } from './image-classifier.js';

const PAPER =
  'Simonyan and Zisserman, Very Deep Convolutional Networks for Large-Scale Image Recognition, ICLR 2015, ' +
  'arXiv:1409.1556';

export function convolutions(channels: number, depth: number, options: ConvolutionOptions = { padding: 1 }): Layer {
  return chain(...Array.from({ length: depth }, () => chain(conv(channels, 3, options), relu)));
}

export function vggStage(channels: number, depth: number): Layer {
  return chain(convolutions(channels, depth), maxPool(2, { stride: 2 }));
}

/** A column of the paper's table 1. */
function vgg(depths: readonly [number, number, number, number, number]) {
  const channels = [64, 128, 256, 512, 512] as const;
  const stages = depths.map((depth, i) => vggStage(channels[i] ?? 512, depth));
  return imageClassifier(224, chain(...stages, flatten, linear(4096), relu, linear(4096), relu, linear(1000)));
}

/** Column D. */
export const vgg16 = torchvisionClassifier('VGG16_Weights', {
  name: 'vgg16',
  title: 'VGG-16',
  paper: PAPER,
  parameters: 138_357_544,
  multiplyAccumulates: 15_470_000_000,
  define: vgg([2, 2, 3, 3, 3]),
});

/** Column E. */
export const vgg19 = torchvisionClassifier('VGG19_Weights', {
  name: 'vgg19',
  title: 'VGG-19',
  paper: PAPER,
  parameters: 143_667_240,
  multiplyAccumulates: 19_632_000_000,
  define: vgg([2, 2, 4, 4, 4]),
});
