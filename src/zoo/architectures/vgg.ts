import { conv, type ConvolutionOptions, linear, maxPool } from '../convolution.js';
import { chain, flatten, imageNetwork, type Layer, relu, repeated } from '../tensor.js';
import { torchvisionClassifiers } from './torchvision.js';

const PAPER =
  'Simonyan and Zisserman, Very Deep Convolutional Networks for Large-Scale Image Recognition, ICLR 2015, ' +
  'arXiv:1409.1556';

export function convolutions(channels: number, depth: number, options: ConvolutionOptions = { padding: 1 }): Layer {
  return repeated(depth, chain(conv(channels, 3, options), relu));
}

export function vggStage(channels: number, depth: number): Layer {
  return chain(convolutions(channels, depth), maxPool(2, { stride: 2 }));
}

/** Columns D and E of the paper's table 1. */
function vgg(depths: readonly [number, number, number, number, number]) {
  const channels = [64, 128, 256, 512, 512] as const;
  const stages = depths.map((depth, i) => vggStage(channels[i] ?? 512, depth));
  return imageNetwork(224, ...stages, flatten, linear(4096), relu, linear(4096), relu, linear(1000));
}

export const VGGS = torchvisionClassifiers(
  PAPER,
  ['vgg16', 'VGG-16', 'VGG16_Weights', 138_357_544, 15_470_000_000, vgg([2, 2, 3, 3, 3])],
  ['vgg19', 'VGG-19', 'VGG19_Weights', 143_667_240, 19_632_000_000, vgg([2, 2, 4, 4, 4])],
);
