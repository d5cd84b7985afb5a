import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildComposite } from '../../src/composite/composite.js';
import type { Benchmark } from '../../src/measurement/benchmark.js';
import { weightlessBenchmark } from '../../src/measurement/weightless.js';
import { computeByteLength, elementCount } from '../../src/onnx/model/element-type.js';
import { parseModel } from '../../src/onnx/read/read-model.js';
import { floats, graph, graphAttribute, int, model, node, value } from '../onnx/protos.js';

const tensorOf = (name: string, dims: number[]) => floats(name, new Array<number>(elementCount(dims)).fill(0.1), dims);

const recurrent = (operator: string, gates: number): Uint8Array =>
  model({
    input: [value('x', [6, 1, 32])],
    node: [node(operator, ['x', 'w', 'r'], ['y'], [int('hidden_size', 64)])],
    output: [value('y', [6, 1, 1, 64])],
    initializer: [tensorOf('w', [1, 64 * gates, 32]), tensorOf('r', [1, 64 * gates, 64])],
  });

const branch = graph({ node: [node('MatMul', ['x', 'w'], ['o'])], output: [value('o', [1, 64])] });
const branches = [graphAttribute('then_branch', branch), graphAttribute('else_branch', branch)];

/** Models of few and small layers, as bricks. */
const SMALL: Readonly<Record<string, Uint8Array>> = {
  RNN: recurrent('RNN', 1),
  GRU: recurrent('GRU', 3),
  If: model({
    input: [value('c', [], 'bool'), value('x', [1, 128])],
    node: [node('If', ['c'], ['y'], branches)],
    output: [value('y', [1, 64])],
    initializer: [tensorOf('w', [128, 64])],
  }),
};

function weightBytes({ inputs }: Benchmark): number {
  const weights = inputs.filter(({ role }) => role === 'weight');
  return weights.reduce((sum, { elementType, dims }) => sum + computeByteLength(elementType, elementCount(dims)), 0);
}

// With weights of its own in each copy, a model of 2 MB, which stays in the caches, takes 100 MB, and its estimate is
// twice too high.
describe('a small model whose bricks are measured together', () => {
  for (const [operator, bytes] of Object.entries(SMALL)) {
    test(`has its weights once: ${operator}`, () => {
      const brick = weightlessBenchmark(parseModel(bytes, operator));
      assert.ok(weightBytes(brick) > 0);
      assert.equal(weightBytes(buildComposite([brick], 0).benchmark), weightBytes(brick));
    });
  }
});
