import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readOperators } from '../../src/composite/read-operators.js';
import { parseModel } from '../../src/onnx/read/read-model.js';
import { nestedNodes } from '../../src/onnx/model/nested-nodes.js';
import { encodeModelToBytes } from '../../src/onnx/write/write-model.js';
import { buildZooModel } from '../../src/zoo/zoo.js';
import { graph, graphAttribute, model, node, value } from '../onnx/protos.js';

describe('operators of a file', () => {
  test('are the same as those of the full reader', () => {
    const bytes = encodeModelToBytes(buildZooModel('squeezenet1.1'));
    const parsed = parseModel(bytes, 'squeezenet');
    const { nodes, standard, opsets } = readOperators(bytes);
    assert.equal(nodes, parsed.graph.nodes.length);
    assert.deepEqual(standard, new Set([...nestedNodes(parsed.graph.nodes)].map(({ opType }) => opType)));
    assert.deepEqual(opsets, parsed.opsets);
  });

  test('include those of branches, whose nodes do not count as nodes of the graph', () => {
    const branch = graph({ node: [node('Tanh', ['x'], ['t'])], output: [value('t')] });
    const bytes = model({
      node: [node('If', ['c'], ['y'], [graphAttribute('then_branch', branch), graphAttribute('else_branch', branch)])],
      input: [value('c', [1], 'bool'), value('x', [2])],
      output: [value('y', [2])],
    });
    const { nodes, standard } = readOperators(bytes);
    assert.equal(nodes, 1);
    assert.deepEqual(standard, new Set(['If', 'Tanh']));
  });

  test('name the values that are read only in part: first inputs of lookups that no other node reads', () => {
    const branch = graph({ node: [node('Tanh', ['tied'], ['t'])], output: [value('t')] });
    const bytes = model({
      node: [
        node('Gather', ['table', 'i'], ['a']),
        node('GatherND', ['tied', 'i'], ['b']),
        node('Add', ['a', 'b'], ['y']),
        node('If', ['c'], ['z'], [graphAttribute('then_branch', branch), graphAttribute('else_branch', branch)]),
      ],
      input: [value('table', [9]), value('tied', [9]), value('i', [1], 'int64'), value('c', [1], 'bool')],
      output: [value('y', [1]), value('z', [9])],
    });
    assert.deepEqual([...readOperators(bytes).gathered], ['table']);
    const other = model({
      node: [node('Gather', ['table', 'i'], ['y'], [], { domain: 'com.example' })],
      input: [value('table', [9]), value('i', [1], 'int64')],
      output: [value('y', [1])],
    });
    assert.deepEqual(readOperators(other).gathered, new Set());
    assert.deepEqual(readOperators(other).standard, new Set());
  });

  test('are refused where a field ends after the message around it', () => {
    // Field 7, the graph, of 5 bytes, where 2 are left.
    const refusal = { code: 'usage', message: /^the model of a brick is not an ONNX file \(a field ends after/ };
    assert.throws(() => readOperators(Uint8Array.of(0x3a, 5, 0, 0)), refusal);
  });
});
