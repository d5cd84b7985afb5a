import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ModelProto } from '../../../src/generated/onnx/onnx.js';
import { externalTensorIn } from '../../../src/onnx/bytes/external-tensor.js';
import { parseModel } from '../../../src/onnx/read/read-model.js';
import { modelsWithExternalTensor, modelWithTrainingInfo } from '../external-places.js';
import { attribute, floats, graph, graphAttribute, node, pipeline, tensorAttribute } from '../protos.js';

describe('a model in memory may not have external data in', () => {
  for (const [place, bytes] of modelsWithExternalTensor('w.bin')) {
    test(place, () => {
      assert.throws(() => parseModel(bytes, 'm.onnx'), {
        name: 'PlatformError',
        code: 'model',
        message: /^m\.onnx: the values of a tensor are in an external file \((graph|functions)\.[a-zA-Z0-9.]+\)/,
      });
    });
  }

  test('except its training info, which is left out', () => {
    const { graph: read } = parseModel(modelWithTrainingInfo('w.bin'), 'm.onnx');
    assert.deepEqual(
      read.nodes.map(({ opType }) => opType),
      ['Relu'],
    );
  });
});

test('a model that contains all its values has no external tensor', () => {
  const branch = graph({ node: [node('Add', ['x', 'w'], ['b'])], initializer: [floats('w', [1])] });
  const list = attribute('list', { tensors: [floats('', [1]), floats('', [2])], ints: [1n], floats: [1] });
  const nodes = [
    node('If', ['x'], ['y'], [graphAttribute('then_branch', branch), tensorAttribute('t', floats('', [1])), list]),
  ];
  assert.equal(externalTensorIn(ModelProto.decode(pipeline(nodes))), undefined);
});
