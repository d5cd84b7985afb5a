import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { joinWeightReaders } from '../../../../plugins/dlbricks/cut/join-weight-readers.js';
import type { LayerGraph } from '../../../../src/onnx/layers/layer-graph.js';
import type { Tensor, TensorType } from '../../../../src/onnx/model/model.js';

/** A chain of matrix products of one row; `sizes` are the lengths of the rows between them. */
function chain(sizes: readonly number[], rows = 1): LayerGraph {
  const types = new Map<string, TensorType>();
  const constants = new Map<string, Tensor>();
  sizes.forEach((size, index) => types.set(`x${index}`, { elementType: 'float32', dims: [rows, size] }));
  const layers = sizes.slice(1).map((size, index) => {
    const dims = [sizes[index] ?? 0, size];
    const fill = { low: -1, high: 1, seed: index };
    constants.set(`w${index}`, { elementType: 'float32', dims, data: { kind: 'fill', fill } });
    const inputs = [`x${index}`, `w${index}`];
    return { name: '', opType: 'MatMul', domain: '', inputs, outputs: [`x${index + 1}`], attributes: [] };
  });
  const outputs = [`x${sizes.length - 1}`];
  return {
    source: 'hand-written',
    opsets: new Map([['', 17]]),
    layers,
    inputs: ['x0'],
    outputs,
    types,
    constants,
    opaque: new Set(),
  };
}

function alone({ layers }: LayerGraph): { first: number; last: number }[] {
  return layers.map((_, index) => ({ first: index, last: index }));
}

describe('joining layers that do little but read weights', () => {
  test('the fully connected layers of an AlexNet become one brick', () => {
    const graph = chain([9216, 4096, 4096, 1000]);
    assert.deepEqual(joinWeightReaders(graph, alone(graph), 64), [{ first: 0, last: 2 }]);
  });

  test('equal layers of which many copies fit stay apart, so that one measurement serves all', () => {
    const graph = chain(Array.from({ length: 9 }, () => 1024));
    assert.deepEqual(joinWeightReaders(graph, alone(graph), 64), alone(graph));
  });

  test('layers that compute for longer than they read stay apart', () => {
    const graph = chain([9216, 4096, 4096, 1000], 256);
    assert.deepEqual(joinWeightReaders(graph, alone(graph), 64), alone(graph));
  });

  // Bytes of the five layers: 20, 30, 20, 15 and 15 % of all. For the later ones, only the joined layers exceed a
  // quarter.
  const QUARTER_JOINS = [1000, 2000, 1500, 1333, 1125, 1333];

  test('neighbours join as long as one of both, or the layers joined so far, have more than a quarter of all bytes', () => {
    const graph = chain(QUARTER_JOINS);
    assert.deepEqual(joinWeightReaders(graph, alone(graph), 64), [{ first: 0, last: 4 }]);
    const equal = chain([1024, 1024, 1024, 1024]);
    assert.deepEqual(joinWeightReaders(equal, alone(equal), 64), [{ first: 0, last: 2 }]);
  });

  test('a kernel without weights stays apart, and the layers after it join within the granularity', () => {
    const { layers, ...rest } = chain([9216, 9216, 4096, 4096]);
    const [first = assert.fail(), ...others] = layers;
    const graph = { ...rest, layers: [{ ...first, opType: 'Relu', inputs: first.inputs.slice(0, 1) }, ...others] };
    assert.deepEqual(joinWeightReaders(graph, alone(graph), 2), [
      { first: 0, last: 0 },
      { first: 1, last: 2 },
    ]);
  });

  test('no brick outgrows the granularity', () => {
    const graph = chain([9216, 4096, 4096, 1000]);
    assert.deepEqual(joinWeightReaders(graph, alone(graph), 1), alone(graph));
    assert.deepEqual(joinWeightReaders(graph, alone(graph), 2), [
      { first: 0, last: 1 },
      { first: 2, last: 2 },
    ]);
  });
});
