import type { GraphBuilder } from '../builder.js';
import { globalAveragePool, linear } from '../convolution.js';
import type { Published, ZooEntry } from '../entry.js';
import { chain, flatten, type Layer } from '../tensor.js';

export function torchvision(weights: string): string {
  return `torchvision ${weights}.IMAGENET1K_V1: num_params, _ops`;
}

/** From features of an image to scores of ImageNet's classes. */
export const imageScores = chain(globalAveragePool, flatten, linear(1000));

/** Scores are without softmax, as torchvision's. */
export function imageClassifier(size: number, layers: Layer): (graph: GraphBuilder) => void {
  return (graph) => {
    const input = graph.input('input', 'float32', ['batch', 3, size, size]);
    graph.output('output', layers(input));
  };
}

type Classifier = Pick<ZooEntry, 'name' | 'title' | 'paper' | 'define'> & Omit<Published, 'source'>;

export function torchvisionClassifier(
  weights: string,
  { parameters, multiplyAccumulates, ...entry }: Classifier,
): ZooEntry {
  const published = { parameters, multiplyAccumulates, source: torchvision(weights) };
  return { ...entry, published, dimensions: { batch: 1 } };
}
