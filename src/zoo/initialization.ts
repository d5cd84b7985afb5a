import type { GraphBuilder, Value } from './builder.js';

/*
 * Activations stay within a few orders of magnitude of 1 from the first layer to the last: no infinity, no NaN, and
 * nothing near 2^-126, below which processors slow down.
 */

/**
 * Keeps the mean square through layers with ReLU, whose outputs each sum `fanIn` products. Source: He et al., Delving
 * Deep into Rectifiers, ICCV 2015, equation 10, as a uniform distribution.
 */
export function weight(graph: GraphBuilder, dims: readonly number[], fanIn: number): Value {
  const bound = Math.sqrt(6 / fanIn);
  return graph.weight('weight', dims, -bound, bound);
}

export function bias(graph: GraphBuilder, size: number): Value {
  return graph.weight('bias', [size], -0.1, 0.1);
}

export function scale(graph: GraphBuilder, size: number): Value {
  return graph.weight('scale', [size], 0.9, 1.1);
}

export function embedding(graph: GraphBuilder, dims: readonly number[]): Value {
  return graph.weight('embedding', dims, -0.05, 0.05);
}
