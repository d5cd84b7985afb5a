import type { Benchmark } from '../../src/measurement/benchmark.js';
import { benchmarkOf } from '../agent/support/tiny-benchmarks.js';

/** A product of matrices for a batch. */
export function matmul(samples: number): Benchmark {
  return benchmarkOf({
    inputs: { x: { dims: [samples, 64] }, w: { dims: [64, 64], role: 'weight' } },
    nodes: [{ opType: 'MatMul', inputs: ['x', 'w'], outputs: ['y'] }],
    outputs: ['y'],
  });
}
