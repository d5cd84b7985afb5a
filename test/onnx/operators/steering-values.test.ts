import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GraphProto, NodeProto } from '../../../src/generated/onnx/onnx.js';
import { convertNode } from '../../../src/onnx/model/nested-nodes.js';
import { findSteeringValues } from '../../../src/onnx/operators/steering-values.js';
import { graph, graphAttribute, int, node, value } from '../protos.js';

/** What steers a node, in words, each once. */
function steering(proto: NodeProto): readonly string[] {
  const found = findSteeringValues(convertNode(proto));
  return [...new Set(found.map(({ name, aspect, decides }) => `${aspect} of ${name}: ${decides}`))].sort();
}

/** The same branch twice. */
function branches(nodes: GraphProto['node'], output = [value('out')]): NodeProto['attribute'] {
  const branch = graph({ node: nodes, output });
  return [graphAttribute('then_branch', branch), graphAttribute('else_branch', branch)];
}

describe('values that steer an operator', () => {
  test('are the boxes, the scores and the limits of a non-maximum suppression', () => {
    assert.deepEqual(
      steering(node('NonMaxSuppression', ['boxes', 'scores', '', 'overlap'], ['chosen'])),
      ['boxes', 'overlap', 'scores'].map((name) => `content of ${name}: sizes`),
    );
  });

  test('are those from which sizes follow, and lengths of sequences', () => {
    assert.deepEqual(steering(node('NonZero', ['x'], ['y'])), ['content of x: sizes']);
    assert.deepEqual(steering(node('TopK', ['x', 'k'], ['y', 'i'])), ['content of k: sizes']);
    assert.deepEqual(steering(node('LSTM', ['x', 'w', 'r', '', 'lengths'], ['y'])), ['content of lengths: lengths']);
  });

  test('are none of most operators, and none of another domain', () => {
    assert.deepEqual(steering(node('MatMul', ['x', 'w'], ['y'])), []);
    assert.deepEqual(steering(node('Clip', ['x', 'low'], ['y'])), []);
    assert.deepEqual(steering(node('NonZero', ['x'], ['y'], [], { domain: 'com.example' })), []);
  });

  test('are the regions of a RoiAlign only where it chooses the number of samples by them', () => {
    const roiAlign = (samples: number) =>
      node('RoiAlign', ['x', 'rois', 'at'], ['y'], [int('sampling_ratio', samples)]);
    assert.deepEqual(steering(roiAlign(0)), ['content of rois: work']);
    assert.deepEqual(steering(roiAlign(2)), []);
  });

  test('are also those from which a branch computes such values, and no others that it reads', () => {
    const inner = [
      node('Add', ['boxes', 'offsets'], ['moved']),
      node('NonMaxSuppression', ['moved', 'scores'], ['chosen']),
      node('Mul', ['features', 'weight'], ['out']),
    ];
    assert.deepEqual(steering(node('If', ['flag'], ['y'], branches(inner))), [
      'content of boxes: sizes',
      'content of flag: sizes',
      'content of offsets: sizes',
      'content of scores: sizes',
    ]);
  });

  test('decide only the work of an If whose branches have the same sizes', () => {
    const inner = branches([node('Relu', ['x'], ['out'])], [value('out', [2, 3])]);
    assert.deepEqual(steering(node('If', ['flag'], ['y'], inner)), ['content of flag: work']);
  });

  test('are the sizes of a value from whose shape a branch computes', () => {
    const inner = [node('Shape', ['x'], ['shape']), node('Expand', ['one', 'shape'], ['out'])];
    assert.deepEqual(steering(node('If', ['flag'], ['y'], branches(inner))), [
      'content of flag: sizes',
      'size of x: sizes',
    ]);
  });

  test('are the first values of those from which a loop computes whether it goes on, and not its other states', () => {
    const body = graph({
      input: [value('at', [], 'int64'), value('go', [], 'bool'), value('count', []), value('sum', []), value('state')],
      node: [
        node('Add', ['count', 'step'], ['more']),
        node('Add', ['sum', 'more'], ['total']),
        node('Less', ['total', 'limit'], ['on']),
        node('Relu', ['state'], ['next']),
      ],
      output: [value('on', [], 'bool'), value('more', []), value('total', []), value('next')],
    });
    const loop = node('Loop', ['trips', '', 'first', 'zero', 'x'], ['a', 'b', 'y'], [graphAttribute('body', body)]);
    assert.deepEqual(steering(loop), [
      'content of first: sizes',
      'content of limit: sizes',
      'content of step: sizes',
      'content of trips: sizes',
      'content of zero: sizes',
    ]);
  });

  test('are found in a Scan that selects, and in nested graphs of any depth', () => {
    const body = graph({
      input: [value('state'), value('slice')],
      node: [node('Identity', ['state'], ['next']), node('NonZero', ['slice'], ['found'])],
      output: [value('next'), value('found')],
    });
    const attributes = [graphAttribute('body', body), int('num_scan_inputs', 1)];
    assert.deepEqual(steering(node('Scan', ['start', 'x'], ['end', 'y'], attributes)), ['content of x: sizes']);
    let nested = [node('NonZero', ['deep'], ['out'])];
    for (let level = 0; level < 40; level++) {
      const then = graph({ node: nested, output: [value('out')] });
      nested = [node('If', ['flag'], ['out'], [graphAttribute('then_branch', then)])];
    }
    const [outermost] = nested;
    assert.ok(outermost !== undefined);
    assert.ok(new Set(steering(outermost)).has('content of deep: sizes'));
  });
});
