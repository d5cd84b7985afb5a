import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { joinAtOpaqueValues } from '../../../../plugins/dlbricks/cut/cut.js';
import type { LayerGraph } from '../../../../src/onnx/layers/layer-graph.js';

/**
 * Layers, each written as `inputs > outputs`. Values in capitals are no tensors. The last layer makes the model's
 * output.
 */
function graphOf(...layers: readonly string[]): LayerGraph {
  const made = layers.map((layer) => {
    const [inputs = [], outputs = []] = layer.split('>').map((side) => side.trim().split(' ').filter(Boolean));
    return { name: '', opType: 'Any', domain: '', inputs, outputs, attributes: [] };
  });
  const values = made.flatMap(({ outputs }) => outputs);
  return {
    source: 'hand-written',
    opsets: new Map([['', 17]]),
    layers: made,
    inputs: ['x'],
    outputs: made.at(-1)?.outputs ?? [],
    types: new Map(),
    constants: new Map(),
    opaque: new Set(values.filter((value) => value === value.toUpperCase())),
  };
}

/** The sequences after joining, as first and last layers. Before joining, sequences have these lengths. */
function joined(graph: LayerGraph, lengths: readonly number[] = graph.layers.map(() => 1)): readonly string[] {
  let next = 0;
  const sequences = lengths.map((length) => ({ first: next, last: (next += length) - 1 }));
  return joinAtOpaqueValues(graph, sequences).map(({ first, last }) => `${first}-${last}`);
}

describe('joining at values that are no tensors', () => {
  test('leaves graphs without any as they are', () => {
    assert.deepEqual(joined(graphOf('x > a', 'a > b', 'b > y')), ['0-0', '1-1', '2-2']);
  });

  test('puts all layers from the maker of such a value to its last reader into one sequence, and nothing else', () => {
    const graph = graphOf('x > a', 'a > S', 'a > b', 'b S > c', 'c > y');
    assert.deepEqual(joined(graph), ['0-0', '1-3', '4-4']);
  });

  test('joins two sequences if the first ends with the maker of such a value', () => {
    assert.deepEqual(joined(graphOf('x > a', 'a > S', 'S > b', 'b > c', 'c > y'), [2, 2, 1]), ['0-3', '4-4']);
  });

  test('joins a layer that makes only such a value, without a reader, to the layer before it', () => {
    assert.deepEqual(joined(graphOf('x > a', 'a > S', 'a > y')), ['0-1', '2-2']);
    assert.deepEqual(joined(graphOf('x > S', 'x > a', 'a > y')), ['0-0', '1-1', '2-2']);
  });

  test('leaves a layer alone that makes a tensor as well', () => {
    assert.deepEqual(joined(graphOf('x > a', 'a > S b', 'b > y')), ['0-0', '1-1', '2-2']);
  });

  test('leaves a layer alone whose value is an output of the model', () => {
    assert.deepEqual(joined(graphOf('x > a', 'a > b Y')), ['0-0', '1-1']);
    const early = { ...graphOf('x > S a', 'a > b', 'b > y'), outputs: ['S', 'y'] };
    assert.deepEqual(joined(early), ['0-0', '1-1', '2-2']);
  });
});
