import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseModel } from '../../../src/onnx/read/read-model.js';
import { quantizationScales } from '../../../src/onnx/values/quantization-scales.js';
import { model, node, value } from '../protos.js';

function scalesOf(nodes: readonly ReturnType<typeof node>[], scales: readonly string[]): ReadonlyMap<string, number> {
  const input = [value('x', [1], 'uint8'), ...scales.map((name) => value(name, []))];
  const output = nodes.flatMap((one) => one.output.map((name) => value(name)));
  return quantizationScales(parseModel(model({ input, node: [...nodes], output }), 'model').graph);
}

describe('made-up scales', () => {
  test('of thousands of constants are at most 2^-7, exact as float16, and the same after 2048', () => {
    const names = Array.from({ length: 2100 }, (_, at) => `scale${at}`);
    const nodes = names.map((name) => node('DequantizeLinear', ['x', name], [`${name} y`]));
    const values = [...scalesOf(nodes, names).values()];
    assert.equal(new Set(values).size, 2048);
    assert.deepEqual(values.slice(2048), values.slice(0, 52));
    assert.equal(Math.max(...values.slice(512)), 2 ** -7 * (1 + 51 / 1024));
    assert.ok(Math.min(...values) >= 2 ** -10);
    assert.ok(values.every((scale) => Number.isInteger(scale * 2 ** 20)));
  });

  test("of a convolution's bias are the product of those of its input and its weights", () => {
    const dequantized = ['a', 'w', 'b'].map((name) => node('DequantizeLinear', ['x', `${name}_scale`], [name]));
    const scales = scalesOf([...dequantized, node('Conv', ['a', 'w', 'b'], ['y'])], ['a_scale', 'w_scale', 'b_scale']);
    const [a = NaN, w = NaN] = [scales.get('a_scale'), scales.get('w_scale')];
    assert.notEqual(a, w);
    assert.equal(scales.get('b_scale'), a * w);
  });

  for (const opType of ['Flatten', 'Identity', 'MaxPool', 'Reshape', 'Squeeze', 'Transpose', 'Unsqueeze']) {
    test(`of a bias are also the product where a ${opType} passes the input on`, () => {
      const nodes = [
        ...['a', 'w', 'b'].map((name) => node('DequantizeLinear', ['x', `${name}_scale`], [name])),
        node(opType, ['a'], ['passed']),
        node('Conv', ['passed', 'w', 'b'], ['y']),
      ];
      const scales = scalesOf(nodes, ['a_scale', 'w_scale', 'b_scale']);
      assert.equal(scales.get('b_scale'), (scales.get('a_scale') ?? NaN) * (scales.get('w_scale') ?? NaN));
    });
  }
});
