import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AttributeProto_AttributeType as AttributeType } from '../../../src/generated/onnx/onnx.js';
import { anonymousAttributes, sortedAttributes } from '../../../src/onnx/layers/rename-subgraphs.js';
import { attribute, floats, graph, graphAttribute, int, node, value } from '../protos.js';

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

test('a branch keeps its constants, without the names and comments of their author, at any depth', () => {
  const secret = { name: 'secret', docString: 'secret' };
  const inner = graph({
    ...secret,
    node: [node('Add', ['v', 'x'], ['o'], [], { ...secret, domain: 'ai.onnx' })],
    output: [value('o')],
  });
  const body = graph({
    ...secret,
    input: [value('i')],
    initializer: [{ ...floats('v', [5]), docString: 'secret' }],
    node: [node('Clip', ['i', '', 'v'], ['c'], [graphAttribute('then_branch', inner)])],
    output: [value('c')],
    valueInfo: [value('secret')],
  });
  const [branch] = anonymous({ ...graphAttribute('body', body), docString: 'secret' });
  const anonymousInner = graph({ node: [node('Add', ['inner1', 'outer_x'], ['inner2'])], output: [value('inner2')] });
  const anonymousBody = graph({
    input: [value('inner0')],
    initializer: [floats('inner1', [5])],
    node: [node('Clip', ['inner0', '', 'inner1'], ['inner3'], [graphAttribute('then_branch', anonymousInner)])],
    output: [value('inner3')],
  });
  assert.deepEqual(branch, graphAttribute('body', anonymousBody));
});

test('attributes are in the order of their names, at any depth', () => {
  const holding = (...list: Parameters<typeof sortedAttributes>[0]) =>
    graphAttribute('a', graph({ name: 'kept', node: [node('Op', ['x'], ['y'], [...list])] }));
  const [b, c, d] = ['b', 'c', 'd'].map((name) => int(name, 1));
  assert.ok(b && c && d);
  assert.deepEqual(sortedAttributes([d, holding(c, b), c, b]), [holding(b, c), b, c, d]);
});

test('a tensor has no name, and a type has no names of dimensions', () => {
  const { type } = value('x', ['batch', 3]);
  assert.ok(type !== undefined);
  const secret = floats('batch', [1]);
  const one = anonymous(
    attribute('type', { type: AttributeType.TYPE_PROTO, tp: type, typeProtos: [type] }),
    attribute('value', { type: AttributeType.TENSOR, t: secret, tensors: [secret] }),
  );
  assert.deepEqual([one[1]?.t, one[1]?.tensors, one[0]?.typeProtos.length], [floats('', [1]), [floats('', [1])], 1]);
  assert.doesNotMatch(
    JSON.stringify(one, (_, inner: unknown) => (typeof inner === 'bigint' ? `${inner}` : inner)),
    /batch/,
  );
});
