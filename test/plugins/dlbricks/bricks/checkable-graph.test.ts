import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkableGraph, kernelIndex } from '../../../../plugins/dlbricks/bricks/checkable-graph.js';
import { CLASS_VALUES } from '../../../../src/onnx/layers/value-classes.js';
import { layerGraph } from '../../../../src/onnx/layers/layer-graph.js';
import { parseModel } from '../../../../src/onnx/read/read-model.js';
import { floatTensor, GraphBuilder } from '../support/graph-builder.js';
import { runBenchmark } from '../support/runtime.js';

test('a kernel in a profile is recognized by its name, also where the runtime has added to it', () => {
  assert.deepEqual(['k0', 'k12', 'k12.reorder', 'k12_nchwc', 'a.k1', 'k', 'other'].map(kernelIndex), [
    0,
    12,
    12,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test('a graph whose kernels are checked names them by their index, and gives them the values of a run', async () => {
  const g = new GraphBuilder();
  const x = g.input('float32', [2, 3]);
  const shape = g.integers('Shape', [x], [2, 3]);
  const negated = g.layer('Neg', [g.layer('Expand', [x, shape], [2, 3])], [2, 3]);
  const model = g.model([negated]);
  const nodes = model.graph.nodes.map((node) => ({ ...node, name: 'n' }));
  // An optimized graph states no types of inner values.
  const types = new Map([...model.graph.types].filter(([name]) => name !== shape));
  const optimized = { ...model, graph: { ...model.graph, nodes, types } };
  const values = new Map([
    [shape, { low: 2, high: 3, list: [2, 3] }],
    // No kernel makes it.
    [x, { low: 5, high: 6 }],
  ]);
  const graph = { ...layerGraph(optimized, g.inferred), ofRun: { weights: 'own' as const, values } };
  const { benchmark, names } = checkableGraph(optimized, graph);
  assert.deepEqual(names, ['n', 'n', 'n']);
  const checked = parseModel(benchmark.model, 'checked').graph;
  // Nothing reads what k0 computes.
  assert.deepEqual(
    checked.nodes.map(({ name, opType }) => [name, opType]),
    [
      ['k1', 'Expand'],
      ['k2', 'Neg'],
    ],
  );
  assert.deepEqual([checked.inputs, checked.outputs], [[x, shape], [negated]]);
  assert.deepEqual(
    benchmark.inputs.map(({ name, elementType, dims, fill, isGiven }) => [
      name,
      elementType,
      dims,
      fill.low,
      fill.high,
      fill.list,
      isGiven,
    ]),
    [
      [x, 'float32', [2, 3], 5, 6, undefined, true],
      [shape, 'int64', [2], 2, 3, [2, 3], true],
    ],
  );
  assert.deepEqual(
    [...(await runBenchmark(benchmark)).values()].map(({ dims }) => dims),
    [[2, 3]],
  );
});

test('a mask that the runtime computed from constants hides in a graph whose kernels are checked what bricks hide', () => {
  const g = new GraphBuilder();
  const mask = g.constant(floatTensor([0, 1, 2]));
  const single = g.constant(floatTensor([0.3]));
  const other = g.constant(floatTensor([0, 1, 3]));
  const x = g.input('float32', [3]);
  const sum = g.layer('Sum', [x, mask, single, other], [3]);
  const model = g.model([sum]);
  const classes = new Map([mask, single, sum].map((name) => [name, 'hidden' as const]));
  const { inputs } = checkableGraph(model, { ...layerGraph(model, g.inferred), classes }).benchmark;
  const listOf = (of: string) => inputs.find(({ name }) => name === of)?.fill;
  assert.deepEqual(listOf(mask)?.list, CLASS_VALUES.hidden.list);
  assert.deepEqual([listOf(single)?.low, listOf(single)?.high], [-1000, -1000]);
  assert.deepEqual([listOf(other)?.list, listOf(x)?.list], [undefined, undefined]);
});
