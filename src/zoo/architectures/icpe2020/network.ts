import type { GraphBuilder } from '../../builder.js';
import { linear } from '../../convolution.js';
import { chain, dropout, flatten, type Layer, softmax } from '../../tensor.js';

export type ImageSize = readonly [number, number, number];

export type Network = (graph: GraphBuilder) => void;

export function imageNetwork(size: ImageSize, layers: Layer): Network {
  return (graph) => {
    graph.output('output', layers(graph.input('input', 'float32', ['batch', ...size])));
  };
}

export function classes(count: number): Layer {
  return chain(linear(count), softmax);
}

export function pooledClasses(count: number, options: { readonly dropout?: boolean } = {}): Layer {
  return chain(...(options.dropout === true ? [dropout] : []), flatten, classes(count));
}
