import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cutBrick } from '../../../../plugins/dlbricks/bricks/brick.js';
import { lastUses } from '../../../../plugins/dlbricks/cut/last-uses.js';
import { operatorsWithLearnedAttributes } from '../../../../plugins/dlbricks/exchange/disclosure.js';
import { AttributeProto, AttributeProto_AttributeType, TensorProto } from '../../../../src/generated/onnx/onnx.js';
import type { Tensor } from '../../../../src/onnx/model/model.js';
import { layerGraph } from '../../../../src/onnx/layers/layer-graph.js';

/** Operators of a brick of one operator with this attribute, and with this constant as its second input. */
function operatorsOf(attribute: Partial<AttributeProto>, constant?: Tensor): readonly string[] {
  const type = { elementType: 'float32', dims: [2] } as const;
  const inputs = constant === undefined ? ['x'] : ['x', 'c'];
  const attributes = [{ ...AttributeProto.create(), name: 'a', ...attribute }];
  const graph = layerGraph({
    source: 'test',
    irVersion: 10,
    opsets: new Map([['', 17]]),
    graph: {
      name: 'g',
      nodes: [{ name: '', opType: 'Op', domain: '', inputs, outputs: ['y'], attributes }],
      inputs: ['x'],
      outputs: ['y'],
      initializers: new Map(constant === undefined ? [] : [['c', constant]]),
      types: new Map([
        ['x', type],
        ['y', type],
      ]),
    },
  });
  return operatorsWithLearnedAttributes(cutBrick(graph, lastUses(graph), { first: 0, last: 0 }));
}

describe('an operator keeps learned values', () => {
  const many = Array.from({ length: 40 }, (_, index) => index / 7);
  test('in a long list of numbers', () => {
    assert.deepEqual(operatorsOf({ type: AttributeProto_AttributeType.FLOATS, floats: many }), ['Op']);
  });
  test('in a long list of texts', () => {
    const strings = many.map((value) => Buffer.from(`label ${value}`));
    assert.deepEqual(operatorsOf({ type: AttributeProto_AttributeType.STRINGS, strings }), ['Op']);
  });
  test('in a tensor', () => {
    const t = { ...TensorProto.create(), dims: [40n], dataType: 1, rawData: new Uint8Array(160) };
    assert.deepEqual(operatorsOf({ type: AttributeProto_AttributeType.TENSOR, t }), ['Op']);
  });
  test('in a text constant', () => {
    const constant: Tensor = {
      elementType: 'string',
      dims: [1],
      data: { kind: 'strings', values: [Buffer.from('secret')] },
    };
    assert.deepEqual(operatorsOf({ type: AttributeProto_AttributeType.INT, i: 1n }, constant), ['Op']);
  });
  test('but not in settings', () => {
    assert.deepEqual(operatorsOf({ type: AttributeProto_AttributeType.INTS, ints: [1n, 2n, 3n] }), []);
    assert.deepEqual(operatorsOf({ type: AttributeProto_AttributeType.FLOATS, floats: [0.1, 0.2] }), []);
  });
});
