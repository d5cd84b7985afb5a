import assert from 'node:assert/strict';
import type { Benchmark } from '../../src/measurement/benchmark.js';
import { fillBlocks } from '../../src/onnx/values/fill.js';
import { elementsOf, type TensorValue } from '../../src/predictor/tensor-value.js';

export function floatsOf(value: TensorValue | undefined): readonly number[] {
  assert.ok(value);
  return [...(elementsOf(value) as Float32Array)];
}

/** The values of an input of fewer than 65,536 floats. */
function filledFloats(benchmark: Benchmark, name: string): readonly number[] {
  const input = benchmark.inputs.find((candidate) => candidate.name === name);
  assert.ok(input);
  const count = input.dims.reduce((product, dim) => product * dim, 1);
  const [block] = fillBlocks(input.elementType, count, input.fill);
  assert.ok(block);
  return [...new Float32Array(block.slice().buffer)];
}

/** The product of the inputs x (1 by n) and w (n by m) of a benchmark. */
export function matMulResult(benchmark: Benchmark): readonly number[] {
  const x = filledFloats(benchmark, 'x');
  const w = filledFloats(benchmark, 'w');
  const columns = w.length / x.length;
  return Array.from({ length: columns }, (_, j) => x.reduce((sum, xi, i) => sum + xi * (w[i * columns + j] ?? NaN), 0));
}
