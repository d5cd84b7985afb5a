import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '../../../src/onnx/model/model.js';
import { quantizationInputs } from '../../../src/onnx/operators/quantization-inputs.js';

function inputsOf(opType: string, inputs: readonly string[] = []) {
  const node: Node = { name: '', opType, domain: '', inputs, outputs: ['y'], attributes: [] };
  return quantizationInputs(node);
}

const PAIRED = [
  'DequantizeLinear',
  'DynamicQuantizeLSTM',
  'QGemm',
  'QLinearAdd',
  'QLinearConv',
  'QLinearSigmoid',
].concat('QLinearWhere', 'QuantizeLinear');

for (const opType of PAIRED) {
  test(`each zero point of a ${opType} is right after its scale`, () => {
    const { scales, zeroPoints } = inputsOf(opType);
    assert.ok(scales.length > 0);
    assert.deepEqual(
      zeroPoints,
      scales.map((at) => at + 1),
    );
  });
}

test('a QLinearConcat has a scale and a zero point for its output and for each input', () => {
  const { scales, zeroPoints } = inputsOf('QLinearConcat', ['ys', 'yz', 'a', 'as', 'az', 'b', 'bs', 'bz']);
  assert.deepEqual(
    [scales, zeroPoints],
    [
      [0, 3, 6],
      [1, 4, 7],
    ],
  );
});
