import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PlatformError } from '../../src/base/errors.js';
import { graphBindings } from '../../src/manifest/graph-bindings.js';
import type { Dimension, Model } from '../../src/onnx/model/model.js';
import { manifestOf } from './read-manifest.js';

function modelWith(dims: readonly Dimension[]): Model {
  return {
    source: 'a.onnx',
    irVersion: 8,
    opsets: new Map([['', 17]]),
    graph: {
      name: 'g',
      nodes: [],
      inputs: ['x'],
      outputs: ['y'],
      initializers: new Map(),
      types: new Map([['x', { elementType: 'float32', dims }]]),
    },
  };
}

function manifestWith(dimensions: string, bindings = '{}') {
  return manifestOf(
    'model',
    [
      'dlspec: model/v1',
      'name: a',
      'version: 1.0.0',
      'framework: {name: onnxruntime, version: "*"}',
      `inputs: [{layer_name: x, element_type: float32, dimensions: ${dimensions}}]`,
      'outputs: [{layer_name: y, element_type: float32, dimensions: [batch]}]',
      `dimensions: ${bindings}`,
      'model: {graph_path: zoo:a}',
    ].join('\n'),
  );
}

test("the graph's symbols get the sizes that the manifest has in their places", () => {
  const bindings = graphBindings(manifestWith('[batch, 3, side, 224]', '{side: 32}'), modelWith(['N', 3, 'H', 'W']), 4);
  assert.deepEqual(Object.fromEntries(bindings), { batch: 4, side: 32, N: 4, H: 32, W: 224 });
});

test('symbols inside the graph are bound by name alone', () => {
  const bindings = graphBindings(manifestWith('[batch]', '{inner: 7}'), modelWith([1]), 1);
  assert.equal(bindings.get('inner'), 7);
});

const DIFFERENCES: readonly [what: string, dimensions: string, dims: readonly Dimension[], message: RegExp][] = [
  ['another size', '[batch, 299]', ['N', 224], /input "x": \[batch, 299\], where the graph has \[N, 224\]/],
  ['another rank', '[batch]', ['N', 224], /input "x": \[batch\], where the graph has \[N, 224\]/],
  ['a symbol of two sizes', '[2, 3]', ['N', 'N'], /the graph has \[N, N\] with "N" = 2/],
];

for (const [what, dimensions, dims, message] of DIFFERENCES) {
  test(`${what} than the graph's is an error`, () => {
    assert.throws(() => graphBindings(manifestWith(dimensions), modelWith(dims), 1), message);
  });
}

test('all differences are reported at once', () => {
  const older = manifestOf(
    'model',
    [
      'name: a',
      'version: 1.0',
      'framework: {name: Onnxruntime, version: 1.x}',
      'inputs: [{parameters: {input_layer: data}}, {parameters: {input_layer: 0, element_type: int64}}]',
      'output: {parameters: {probabilities_layer: 1}}',
      'model: {graph_path: a.onnx}',
    ].join('\n'),
  );
  assert.throws(
    () => graphBindings(older, modelWith(['N']), 1),
    (error) => {
      assert.ok(error instanceof PlatformError && error.code === 'model');
      assert.match(error.message, /^a\.onnx differs from the manifest of a;/);
      assert.match(error.message, /input "data": the graph has "x"\n.*input "x": int64, where the graph has float32\n/);
      assert.match(error.message, /output number 1: the graph has "y"$/);
      return true;
    },
  );
});
