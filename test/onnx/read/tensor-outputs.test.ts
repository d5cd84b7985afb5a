import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TypeProto, ValueInfoProto } from '../../../src/generated/onnx/onnx.js';
import { parseModel } from '../../../src/onnx/read/read-model.js';
import { toTypeProto } from '../../../src/onnx/write/write-model.js';
import { model, node, value } from '../protos.js';

const TENSOR = toTypeProto({ elementType: 'float32', dims: [3] });

const MAP: TypeProto = { denotation: '', value: { $case: 'mapType', value: { keyType: 7, valueType: TENSOR } } };

function sequenceOf(elemType: TypeProto): TypeProto {
  return { denotation: '', value: { $case: 'sequenceType', value: { elemType } } };
}

function output(name: string, type: TypeProto): ValueInfoProto {
  return { name, docString: '', type };
}

/** A model with these outputs, each of which a node makes. */
function read(outputs: readonly ValueInfoProto[], further: readonly string[] = []) {
  const names = [...outputs.map(({ name }) => name), ...further];
  const nodes = names.map((name) => node('SequenceConstruct', ['x'], [name]));
  return parseModel(model({ input: [value('x', [3])], node: nodes, output: [...outputs] }), 'm.onnx').graph;
}

describe('a graph without a tensor as an output', () => {
  test('has the length of a sequence instead', () => {
    const { nodes, outputs, types } = read([output('s', sequenceOf(TENSOR))]);
    assert.deepEqual(outputs, ['s.summary']);
    assert.deepEqual(types.get('s.summary'), { elementType: 'int64', dims: [] });
    assert.deepEqual([nodes.at(-1)?.opType, nodes.at(-1)?.inputs], ['SequenceLength', ['s']]);
  });

  test('has whether an optional value is present', () => {
    const optional: TypeProto = { denotation: '', value: { $case: 'optionalType', value: { elemType: TENSOR } } };
    const { nodes, outputs, types } = read([output('o', optional)]);
    assert.deepEqual([nodes.at(-1)?.opType, types.get(outputs[0] ?? '')?.elementType], ['OptionalHasElement', 'bool']);
  });

  test('leaves out maps, and sequences of maps', () => {
    const { outputs } = read([output('m', MAP), output('s', sequenceOf(TENSOR)), output('t', sequenceOf(MAP))]);
    assert.deepEqual(outputs, ['s.summary']);
  });

  test('has new names where its own are taken', () => {
    const { outputs } = read([output('s', sequenceOf(TENSOR))], ['s.summary', 's.summary_']);
    assert.deepEqual(outputs, ['s.summary__']);
  });

  test('is refused if it has only maps', () => {
    assert.throws(() => read([output('t', sequenceOf(MAP))]), /"t" is a map or contains maps/);
  });
});

test('a graph with a tensor as an output stays as it is', () => {
  assert.deepEqual(read([output('s', sequenceOf(TENSOR)), value('y', [3])]).outputs, ['s', 'y']);
});
