import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NodeProto, type TypeProto } from '../../../src/generated/onnx/onnx.js';
import { capturedNames, renameSubgraphValues, withoutSymbols } from '../../../src/onnx/model/subgraphs.js';
import { toTypeProto } from '../../../src/onnx/write/write-model.js';
import { floats, graph, graphAttribute, node, value } from '../protos.js';

const inner = graph({ node: [node('Add', ['deep', 'fromBody'], ['i'])], output: [value('i')] });
const body = graph({
  name: 'secret body',
  input: [value('state', ['secret symbol'])],
  initializer: [floats('bias', [1])],
  node: [
    node('Add', ['state', 'outer'], ['fromBody'], [], { name: 'secret node' }),
    node('If', ['flag'], ['o'], [graphAttribute('then_branch', inner), graphAttribute('else_branch', inner)]),
    node('Sum', ['o', '', 'bias', 'outer'], ['out']),
  ],
  output: [value('out'), value('passed')],
  valueInfo: [value('secret value')],
});

describe('captured names', () => {
  test('are those that no inner graph defines, in the order of their first use', () => {
    assert.deepEqual(capturedNames({ attributes: [graphAttribute('body', body)] }), [
      'outer',
      'flag',
      'deep',
      'passed',
    ]);
  });
  test('a node without subgraphs has none', () => assert.deepEqual(capturedNames({ attributes: [] }), []));
});

describe('renaming', () => {
  const renamed = renameSubgraphValues(graphAttribute('body', body), (name) => `<${name}>`);
  test('reaches every value', () => {
    assert.deepEqual(capturedNames({ attributes: [renamed] }), ['<outer>', '<flag>', '<deep>', '<passed>']);
    assert.deepEqual(renamed.g?.node[2]?.input, ['<o>', '', '<bias>', '<outer>']);
    assert.equal(renamed.g?.input[0]?.name, '<state>');
    assert.equal(renamed.g?.initializer[0]?.name, '<bias>');
    assert.deepEqual(renamed.g?.node[1]?.attribute[0]?.g?.node[0]?.output, ['<i>']);
  });
  test('leaves no other name behind', () => {
    const bytes = NodeProto.encode(node('Loop', [], [], [renamed])).finish();
    assert.doesNotMatch(Buffer.from(bytes).toString('latin1'), /secret/);
  });
});

test('a type keeps its kind and its sizes, and no name of a dimension, at any depth', () => {
  const around = (tensor: TypeProto): TypeProto => {
    const list: TypeProto = { denotation: '', value: { $case: 'sequenceType', value: { elemType: tensor } } };
    const map: TypeProto = { denotation: '', value: { $case: 'mapType', value: { keyType: 7, valueType: list } } };
    return { denotation: '', value: { $case: 'optionalType', value: { elemType: map } } };
  };
  const named = toTypeProto({ elementType: 'float32', dims: [3, 'secret'] });
  const unnamed = toTypeProto({ elementType: 'float32', dims: [3, 4] });
  assert.ok(unnamed.value?.$case === 'tensorType');
  const open = unnamed.value.value.shape?.dim[1];
  assert.ok(open);
  open.value = undefined;
  assert.deepEqual(withoutSymbols(around(named)), around(unnamed));
});
