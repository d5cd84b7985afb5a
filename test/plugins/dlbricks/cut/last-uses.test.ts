import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastUses, liveSizes } from '../../../../plugins/dlbricks/cut/last-uses.js';
import type { LayerGraph } from '../../../../src/onnx/layers/layer-graph.js';

function layer(inputs: readonly string[], outputs: readonly string[]): LayerGraph['layers'][number] {
  return { name: '', opType: 'Op', domain: '', inputs, outputs, attributes: [] };
}

const GRAPH: LayerGraph = {
  source: 'hand-written',
  opsets: new Map([['', 17]]),
  layers: [layer(['x'], ['a', 'unread']), layer(['a', 'y'], ['b']), layer(['a', 'b'], ['c'])],
  inputs: ['x', 'y', 'unread input'],
  outputs: ['c'],
  types: new Map(),
  constants: new Map(),
  opaque: new Set(),
};

test('a value lives until its last reader, an output of the model for ever, and a value without a reader never', () => {
  const uses = lastUses(GRAPH);
  assert.deepEqual(
    ['x', 'y', 'a', 'b', 'c', 'unread'].map((name) => uses.get(name)),
    [0, 1, 2, 2, Infinity, undefined],
  );
  const sizes: Readonly<Record<string, number>> = { x: 1, y: 2, a: 4, b: 8, c: 16, unread: 32, 'unread input': 64 };
  // x y a, then y a b, then a b c.
  assert.deepEqual(
    liveSizes(GRAPH, (name) => sizes[name] ?? assert.fail(name)),
    [
      { during: 7, after: 6 },
      { during: 14, after: 12 },
      { during: 28, after: 16 },
    ],
  );
});
