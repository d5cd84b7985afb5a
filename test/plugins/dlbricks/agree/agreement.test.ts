import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareValues, findParting } from '../../../../plugins/dlbricks/agree/agreement.js';
import { coarsestPrecision } from '../../../../plugins/dlbricks/agree/precision.js';
import type { RunValue } from '../../../../src/agent/run-value.js';
import { int as intAttribute } from '../../../../src/onnx/model/make-attributes.js';
import type { Model, Node } from '../../../../src/onnx/model/model.js';
import { GraphBuilder } from '../support/graph-builder.js';

function valueOf(elements: readonly number[], change: Partial<RunValue> = {}): RunValue {
  const finite = elements.filter(Number.isFinite);
  return {
    elementType: 'float32',
    dims: [1, elements.length],
    sha256: JSON.stringify(elements.map(String)),
    norm: Math.hypot(...finite),
    notFinite: elements.length - finite.length,
    first: elements.slice(0, 8),
    elements,
    stride: 1,
    ...change,
  };
}

const SCORES = [1, 2, 3, 4, 5, 6, 7];

describe('the agreement of two values', () => {
  it('is complete for the same bits', () => {
    assert.deepEqual(compareValues(valueOf(SCORES), valueOf(SCORES)), {
      isSame: true,
      elements: 7,
      largest_difference: 0,
      relative_difference: 0,
      cosine: 1,
      top_1: 1,
      top_5: 1,
      reason: null,
    });
  });

  it('has the largest difference, also over the largest element, and the cosine', () => {
    const agreement = compareValues(valueOf([3, 4]), valueOf([4, 3]));
    assert.deepEqual([agreement.largest_difference, agreement.relative_difference], [1, 0.25]);
    assert.ok(Math.abs((agreement.cosine ?? 0) - 24 / 25) < 1e-12);
    assert.equal(compareValues(valueOf([0, 0]), valueOf([0, 1])).relative_difference, null);
    assert.equal(compareValues(valueOf([0, 0]), valueOf([0, 1])).cosine, null);
  });

  it('has the first and the first five places of rows of scores', () => {
    const swapped = compareValues(valueOf(SCORES), valueOf([1, 2, 3, 4, 5, 7, 6]));
    assert.deepEqual([swapped.top_1, swapped.top_5], [0, 1]);
    const replaced = compareValues(valueOf(SCORES), valueOf([9, 2, 3, 4, 5, 6, 7]));
    assert.deepEqual([replaced.top_1, replaced.top_5], [0, 0.8]);
    assert.equal(compareValues(valueOf([1, 2]), valueOf([2, 1])).top_1, null);
    assert.equal(
      compareValues(valueOf(SCORES, { dims: [7] }), valueOf([7, ...SCORES.slice(1)], { dims: [7] })).top_1,
      null,
    );
  });

  it('has no figures where shapes differ, or an element is no number on one side', () => {
    assert.match(
      compareValues(valueOf([1, 2]), valueOf([1, 2], { dims: [2, 1] })).reason ?? '',
      /float32\[1, 2\] on one side, float32\[2, 1\] on the other/,
    );
    const one = compareValues(valueOf([1, NaN, 3]), valueOf([1, 2, 3]));
    const reason = 'element 1 is NaN on one side, 2 on the other';
    assert.deepEqual([one.reason, one.largest_difference], [reason, null]);
    const both = compareValues(valueOf([1, NaN, -Infinity]), valueOf([2, NaN, -Infinity]));
    assert.deepEqual([both.reason, both.largest_difference], [null, 1]);
  });

  it('ends at the first value of the graph that differs beyond the tolerance', () => {
    const before = new Map([
      ['a', valueOf([1])],
      ['b', valueOf([1])],
      ['c', valueOf([1])],
    ]);
    const after = new Map([
      ['a', valueOf([1.0005])],
      ['b', valueOf([1.002])],
      ['c', valueOf([2])],
    ]);
    const { tolerance } = coarsestPrecision([]);
    assert.equal(findParting(['a', 'b', 'c'], [before, after], tolerance)?.name, 'b');
    assert.equal(findParting(['a', 'b', 'c'], [before, after], 0.04)?.name, 'c');
    assert.equal(findParting(['a', 'absent'], [before, after], tolerance), undefined);
  });

  it('has the tolerance of the coarsest precision', () => {
    const graph = new GraphBuilder();
    const half = graph.layer('Relu', [graph.input('float16', [1, 4])], [1, 4]);
    const plain = new GraphBuilder();
    const floats = plain.model([plain.layer('Relu', [plain.input('float32', [1, 4])], [1, 4])]);
    const halves = graph.model([half]);
    const withNode = (opType: string, attributes: Node['attributes'] = []): Model => {
      const nodes = floats.graph.nodes.map((node) => ({ ...node, opType, attributes }));
      return { ...floats, graph: { ...floats.graph, nodes } };
    };
    const names = [
      [floats],
      [floats, halves],
      [halves, withNode('QLinearConv')],
      [withNode('DynamicQuantizeLinear')],
      [withNode('MatMulNBits')],
      [withNode('MatMulNBits', [intAttribute('bits', 8)])],
      [withNode('QuickGelu')],
    ].map((models) => coarsestPrecision(models).name);
    const four = 'quantized to 4 bits or fewer';
    assert.deepEqual(names, ['float32', 'float16', 'quantized', 'quantized', four, 'quantized', 'float32']);
  });
});
