import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inputValues, inputValuesField } from '../../src/manifest/input-values.js';
import { MAX_LISTED_VALUES } from '../../src/onnx/model/model.js';
import { buildZooModel } from '../../src/zoo/zoo.js';
import { manifestOf } from './read-manifest.js';

const EXPECTED = 'a number, a list of numbers, true, false, or a range such as 0..127';

describe('the values of an input', () => {
  test('are numbers, truth values, lists and ranges', () => {
    for (const [written, low, high] of [
      [3, 3, 3],
      [true, 1, 1],
      [false, 0, 0],
      ['0..127', 0, 127],
      [[2, -1], -1, 2],
      [[5], 5, 5],
    ] as const) {
      const values = inputValuesField.parse(written);
      assert.deepEqual([values.low, values.high], [low, high], JSON.stringify(written));
    }
  });

  test('are refused as other texts, as empty and as too long lists', () => {
    const long = Array.from({ length: MAX_LISTED_VALUES + 1 }, () => 1);
    assert.ok(inputValuesField.safeParse(long.slice(1)).success);
    for (const written of ['file.npy', '9..1', '', null, { low: 1 }]) {
      const messages = inputValuesField.safeParse(written).error?.issues.map(({ message }) => message);
      assert.deepEqual(messages, [EXPECTED], JSON.stringify(written));
    }
    for (const written of [[], long, [1, 'a']]) assert.ok(!inputValuesField.safeParse(written).success);
  });
});

test('the inputs of a manifest are found in the graph by name and by place', () => {
  const graph = buildZooModel('squeezenet1.1');
  const [name = assert.fail()] = graph.graph.inputs;
  const manifest = manifestOf(
    'model',
    `dlspec: model/v1
name: m
version: 1.0.0
framework: any
inputs:
  - { layer_name: ${name}, element_type: float32, dimensions: [batch, 3, 224, 224], values: 0..1 }
outputs: [{ layer_name: y, element_type: float32, dimensions: [batch, 1000] }]
model: { graph_path: zoo:m }
`,
  );
  const [input = assert.fail()] = manifest.inputs;
  const named = (layers: readonly (string | number)[]): readonly string[] => {
    const inputs = layers.map((layer_name) => ({ ...input, layer_name }));
    return [...inputValues({ ...manifest, inputs }, graph).keys()];
  };
  assert.deepEqual(named([name]), [name]);
  assert.deepEqual(named([0]), [name]);
  assert.deepEqual(named([1]), [], 'the graph has one input only');
  assert.deepEqual([...inputValues({ ...manifest, inputs: [{ ...input, values: undefined }] }, graph)], []);
});
