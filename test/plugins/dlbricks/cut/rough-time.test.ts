import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../support/property.js';
import {
  readsLittleButWeights,
  roughMs,
  roughMsOfBrick,
  weightShare,
} from '../../../../plugins/dlbricks/cut/rough-time.js';
import { decomposeModel } from '../../../../plugins/dlbricks/bricks/unique-bricks.js';
import { layerGraph } from '../../../../src/onnx/layers/layer-graph.js';
import type { Model } from '../../../../src/onnx/model/model.js';
import { generatedModels, layerGraphOf } from '../support/generated-graph.js';
import { GraphBuilder } from '../support/graph-builder.js';

function roughMsOfFirst(model: Model): number {
  const graph = layerGraph(model);
  const [kernel] = graph.layers;
  assert.ok(kernel !== undefined);
  return roughMs(graph, kernel);
}

function product(rows: number, summed: number, columns: number): number {
  const g = new GraphBuilder();
  const weight = g.weight([summed, columns], summed);
  return roughMsOfFirst(g.model([g.layer('MatMul', [g.input('float32', [rows, summed]), weight], [rows, columns])]));
}

function elementwise(size: number): number {
  const g = new GraphBuilder();
  return roughMsOfFirst(g.model([g.layer('Relu', [g.input('float32', [size])], [size])]));
}

describe('the rough time of a kernel', () => {
  test('is a positive number for every kernel', () => {
    fc.assert(
      fc.property(generatedModels(), (generated) => {
        const graph = layerGraphOf(generated);
        for (const kernel of graph.layers) {
          const ms = roughMs(graph, kernel);
          assert.ok(Number.isFinite(ms) && ms > 0, `${kernel.opType}: ${ms}`);
        }
      }),
    );
  });

  test('grows with the number of multiplications: four times as many take about four times as long', () => {
    const ratio = product(256, 512, 1024) / product(64, 512, 1024);
    assert.ok(ratio > 3 && ratio <= 4, `${ratio}`);
  });

  test('grows with the bytes that are moved if nothing is multiplied', () => {
    const ratio = elementwise(4_000_000) / elementwise(1_000_000);
    assert.ok(ratio > 3.9 && ratio <= 4, `${ratio}`);
  });

  test('is longer for a product than for moving the same amount of data', () => {
    assert.ok(product(512, 512, 512) > elementwise(2 * 512 * 512));
  });
});

describe('constants of the rough time', () => {
  // A core that does 1e8 multiply-accumulates and moves 2e7 bytes in a millisecond, and needs 2 µs for a kernel: within
  // a factor of three of one core of a server of the 2020s. Other values cut graphs elsewhere, so that stored
  // measurements would not be found again.
  test('are those with which the bricks of stored measurements were cut', () => {
    // Ten floats in and ten out.
    assert.equal(elementwise(10), (20 * 4) / 2e7 + 0.002);
    // 2 x 3 x 5 products; 6, 15 and 10 floats.
    assert.equal(product(2, 3, 5), 30 / 1e8 + (31 * 4) / 2e7 + 0.002);
  });

  test('of reading weights: 10 MB in a millisecond, and more than half of the work counts as reading', () => {
    assert.equal(weightShare(1e7, 4), 0.25);
    assert.equal(readsLittleButWeights(2e7, 4), false);
    assert.equal(readsLittleButWeights(2.1e7, 4), true);
  });
});

test('the rough time of a brick is known from its file alone, except for outputs that nothing reads', () => {
  fc.assert(
    fc.property(generatedModels(), (generated) => {
      const graph = layerGraphOf(generated);
      const { bricks, roughMs: ofModel } = decomposeModel('model', graph, 1);
      for (const [index, brick] of bricks.entries()) {
        const ms = ofModel[index] ?? NaN;
        const byFile = roughMsOfBrick(brick);
        assert.ok(byFile <= ms * (1 + 1e-9) && byFile >= ms / 4, `${brick.operators.join()}: ${byFile} and ${ms}`);
      }
    }),
  );
});
