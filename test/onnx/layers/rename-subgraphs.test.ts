import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AttributeProto_AttributeType as AttributeType } from '../../../src/generated/onnx/onnx.js';
import { anonymousAttributes } from '../../../src/onnx/layers/rename-subgraphs.js';
import { attribute, graph, graphAttribute, node, value } from '../protos.js';

function anonymous(...attributes: Parameters<typeof anonymousAttributes>[0][number][]) {
  let names = 0;
  return anonymousAttributes(attributes, { nameOf: (name) => `outer_${name}`, freshName: () => `inner${names++}` });
}

test('nodes of a branch stay, and its values are named by their order', () => {
  const [branch] = anonymous(
    graphAttribute(
      'then_branch',
      graph({ node: [node('Relu', ['x'], ['t']), node('Tanh', ['t'], ['u'])], output: [value('u')] }),
    ),
  );
  assert.deepEqual(
    branch?.g?.node.map(({ opType, input, output }) => [opType, input, output]),
    [
      ['Relu', ['outer_x'], ['inner0']],
      ['Tanh', ['inner0'], ['inner1']],
    ],
  );
});

test('a type has no names of dimensions', () => {
  const { type } = value('x', ['batch', 3]);
  const [one] = anonymous(attribute('type', { type: AttributeType.TYPE_PROTO, tp: type }));
  assert.doesNotMatch(
    JSON.stringify(one, (_, inner: unknown) => (typeof inner === 'bigint' ? `${inner}` : inner)),
    /batch/,
  );
});
