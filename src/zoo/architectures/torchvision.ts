import { globalAveragePool, linear } from '../convolution.js';
import type { ZooEntry } from '../entry.js';
import type { Network } from '../builder.js';
import { chain, flatten } from '../tensor.js';

export function torchvision(weights: string): string {
  return `torchvision ${weights}.IMAGENET1K_V1: num_params, _ops`;
}

/** From features of an image to scores of ImageNet's classes. */
export const imageScores = chain(globalAveragePool, flatten, linear(1000));

type Row = readonly [
  name: string,
  title: string,
  weights: string,
  parameters: number,
  multiplyAccumulates: number,
  define: Network,
];

/** Models of one paper. Scores are without softmax, as torchvision's. */
export function torchvisionClassifiers(paper: string, ...rows: readonly Row[]): readonly ZooEntry[] {
  return rows.map(([name, title, weights, parameters, multiplyAccumulates, define]) => {
    const source = torchvision(weights);
    return { name, title, paper, parameters, multiplyAccumulates, source, dimensions: { batch: 1 }, define };
  });
}
