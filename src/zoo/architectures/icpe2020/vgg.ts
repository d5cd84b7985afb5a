import { linear } from '../../convolution.js';
import { chain, dropout, flatten, imageNetwork, type Layer, relu } from '../../tensor.js';
import { classes } from './classes.js';
import type { Network } from '../../builder.js';
import { vggStage } from '../vgg.js';

function hidden(features: number): Layer {
  return chain(linear(features), relu, dropout);
}

export function vgg(labels: number, depths = [2, 2, 3, 3, 3], { size = 224, width = 64 } = {}): Network {
  const stages = depths.map((depth, i) => vggStage(width * Math.min(2 ** i, 8), depth));
  const head = [flatten, hidden(64 * width), hidden(64 * width), classes(labels)];
  return imageNetwork(size, ...stages, ...head);
}
