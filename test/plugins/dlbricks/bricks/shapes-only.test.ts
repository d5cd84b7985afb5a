import assert from 'node:assert/strict';
import { test } from 'node:test';
import { copyBrick } from '../../../../plugins/dlbricks/bricks/brick-copies.js';
import { shapeNodes } from '../../../../plugins/dlbricks/bricks/empty-call.js';
import { parseModel } from '../../../../src/onnx/read/read-model.js';
import { int, model, node, value } from '../../../onnx/protos.js';

/** Number of int4 in TensorProto.DataType. Source: onnx.proto of the ONNX project. */
const INT4 = 22;

test('the shape of a value is taken at once, and that of a packed value after a cast', () => {
  const [plain, ...none] = shapeNodes('v', 'shape', 'float32');
  assert.deepEqual([plain?.opType, plain?.inputs, plain?.outputs, none], ['Shape', ['v'], ['shape'], []]);
  const [cast, shape] = shapeNodes('v', 'shape', 'int4');
  assert.deepEqual([cast?.opType, cast?.inputs], ['Cast', ['v']]);
  assert.deepEqual([shape?.opType, shape?.inputs, shape?.outputs], ['Shape', cast?.outputs, ['shape']]);
  assert.notEqual(cast?.outputs[0], '');
});

test('copies of a brick with packed outputs are compared with a call that casts as many packed values', () => {
  const bytes = model(
    {
      input: [value('x', [4])],
      output: [value('y', [4], 'int4')],
      node: [node('Cast', ['x'], ['y'], [int('to', INT4)])],
    },
    { irVersion: 10n, opsetImport: [{ domain: '', version: 21n }] },
  );
  const x = {
    name: 'x',
    role: 'activation',
    elementType: 'float32',
    dims: [4],
    fill: { low: -1, high: 1, seed: 1 },
  } as const;
  const brick = { signature: '0'.repeat(64), model: bytes, inputs: [x], operators: ['Cast'] };
  const { benchmark, baseline } = copyBrick(brick, 3);
  const operatorsOf = (content: Uint8Array): readonly string[] =>
    parseModel(content, 'test').graph.nodes.map(({ opType }) => opType);
  assert.deepEqual(operatorsOf(benchmark.model), [
    ...Array<string[]>(3).fill(['Cast', 'Cast', 'Shape']).flat(),
    'Concat',
  ]);
  assert.deepEqual(operatorsOf(baseline.model), [...Array<string[]>(3).fill(['Cast', 'Shape']).flat(), 'Concat']);
  const packed = baseline.inputs.filter(({ elementType }) => elementType === 'int4');
  assert.deepEqual(
    packed.map(({ dims, role }) => [dims, role]),
    Array<unknown>(3).fill([[4], 'weight']),
  );
  assert.equal(parseModel(baseline.model, 'test').opsets.get(''), 21);
});
