import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FunctionProto } from '../../src/generated/onnx/onnx.js';
import { countExpansion } from '../../src/onnx/count-expansion.js';
import { fn, graph, graphAttribute, node, value } from './protos.js';

const functionIn =
  (functions: readonly FunctionProto[]) =>
  ({ opType }: { readonly opType: string }) =>
    functions.find(({ name }) => name === opType);

test('what functions become is counted without making it', () => {
  const levels = Array.from({ length: 45 }, (_, i) => {
    const next = i === 44 ? 'Relu' : `f${i + 1}`;
    return fn(`f${i}`, { input: ['a'], output: ['b'], node: [node(next, ['a'], ['h']), node(next, ['h'], ['b'])] });
  });
  const { size, depth } = countExpansion([node('f0', ['x'], ['y'])], functionIn(levels), 50);
  assert.ok(size > 2 ** 45);
  assert.equal(depth, 0);
});

test('subgraphs are counted through calls, and circles are left to others', () => {
  const branch = (inner: string) =>
    graphAttribute('then_branch', graph({ node: [node(inner, [], ['h'])], output: [value('h')] }));
  const functions = [
    fn('outer', { output: ['b'], node: [node('If', ['a'], ['b'], [branch('inner')])] }),
    fn('inner', { output: ['b'], node: [node('If', ['a'], ['b'], [branch('outer')])] }),
  ];
  assert.equal(countExpansion([node('outer', [], ['y'])], functionIn(functions), 50).depth, 2);
});
