import type { GraphBuilder } from './builder.js';
import { chain, type Layer } from './tensor.js';

export type Network = (graph: GraphBuilder) => void;

/** @param size rows and columns of an image with three colors, or channels, height and width */
export function imageNetwork(size: number | readonly [number, number, number], ...layers: readonly Layer[]): Network {
  const dims = typeof size === 'number' ? [3, size, size] : size;
  return (graph) => graph.output('output', chain(...layers)(graph.input('input', 'float32', ['batch', ...dims])));
}
