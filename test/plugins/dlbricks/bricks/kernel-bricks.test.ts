import { outputCopyNeed } from '../../../../plugins/dlbricks/bricks/needs.js';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../support/property.js';
import { modelNeeds } from '../../../../plugins/dlbricks/bricks/needs.js';
import type { PreparedModel } from '../../../../plugins/dlbricks/bricks/prepare-model.js';
import {
  type DecomposedModel,
  decomposeKernels,
  hasShortKernels,
  type KernelContext,
} from '../../../../plugins/dlbricks/bricks/unique-bricks.js';
import { buildWanted } from '../../../../src/measuring/known-results.js';
import {
  brickTasks,
  callTask,
  firstTasks,
  FIRST_OCCASION,
  type MeasureSettings,
  wantedOfNeed,
  bricksOfModel,
} from '../../../../plugins/dlbricks/measure/tasks.js';
import { footprintClass } from '../../../../src/composite/footprint.js';
import { weightlessBenchmark } from '../../../../src/measurement/weightless.js';
import { listSubgraphs } from '../../../../src/onnx/model/subgraphs.js';
import { parseModel } from '../../../../src/onnx/read/read-model.js';
import { layerGraph, type LayerGraph } from '../../../../src/onnx/layers/layer-graph.js';
import { LIMITS, PROTOCOL, SYSTEM } from '../../../store/sample-measurement.js';
import { type GeneratedModel, generatedModels, layerGraphOf } from '../support/generated-graph.js';
import { GraphBuilder } from '../support/graph-builder.js';
import { recurrentLoop, recurrentScan } from '../support/loops.js';
import { renamed } from '../support/rename-model.js';

const SETTINGS: MeasureSettings = { runOptions: SYSTEM.runOptions, protocol: PROTOCOL, limits: LIMITS };

const ways = fc.constantFrom<KernelContext['measured'][]>('together', 'copies', 'short');

const granularities = fc.integer({ min: 1, max: 8 });

function decomposed(
  graph: LayerGraph,
  granularity: number,
  measured: KernelContext['measured'] = 'copies',
): DecomposedModel {
  return decomposeKernels('model', graph, granularity, {
    layers: graph.layers.length,
    ends: { inputs: graph.inputs.length, outputs: graph.outputs.length },
    measured,
    surroundings: { modelWeightBytes: 2 ** 20, cacheBytes: 2 ** 25 },
  });
}

function preparedOf(generated: GeneratedModel, granularity: number, way: KernelContext['measured']): PreparedModel {
  const whole = weightlessBenchmark(generated.model);
  return { ...decomposed(layerGraphOf(generated), granularity, way), whole, costMs: 0 };
}

/** Residual blocks with weights of their own and a mask that all of them read. */
function maskedBlocks(count: number): LayerGraph {
  const g = new GraphBuilder();
  const dims = [1, 16, 256, 256];
  const mask = g.input('float32', dims);
  let x = g.input('float32', dims);
  for (let block = 0; block < count; block++) {
    const inner = g.layer('Relu', [g.layer('Conv', [x, g.weight([16, 16, 1, 1], 16)], dims)], dims);
    x = g.layer('Add', [x, g.layer('Mul', [inner, mask], dims)], dims);
  }
  return layerGraph(g.model([x]));
}

describe('a graph of kernels', () => {
  test('has repeated blocks as one brick, although a mask lives through all of them', () => {
    const { recipe, bricks } = decomposed(maskedBlocks(6), 6);
    const inside = recipe.sequences.slice(0, -1);
    assert.equal(recipe.sequences.length, 6);
    assert.deepEqual(new Set(inside), new Set([0]));
    // The last block is the last reader of the mask and makes the model's output. It is the same brick nevertheless.
    assert.equal(bricks.length, 1);
    assert.deepEqual(bricks[0]?.operators, ['Conv', 'Relu', 'Mul', 'Add']);
  });

  test('does not depend on any name', () => {
    fc.assert(
      fc.property(generatedModels({ maxSteps: 10 }), granularities, ways, (generated, granularity, way) => {
        const before = decomposed(layerGraphOf(generated), granularity, way);
        const after = decomposed(layerGraphOf(renamed(generated)), granularity, way);
        assert.deepEqual(after.recipe, before.recipe);
      }),
    );
  });

  test('names for each brick the benchmarks that are measured for it', () => {
    fc.assert(
      fc.property(generatedModels({ maxSteps: 10 }), granularities, ways, (generated, granularity, way) => {
        const { recipe, bricks, call } = decomposed(layerGraphOf(generated), granularity, way);
        assert.equal(recipe.call, call?.signature);
        assert.equal(recipe.bricks.length, bricks.length);
        for (const [index, { signature, context }] of recipe.bricks.entries()) {
          const brick = bricks[index];
          assert.equal(signature, brick?.signature);
          assert.equal(context?.benchmark, brick?.copies?.benchmark.signature);
          assert.equal(context?.baseline, brick?.copies?.baseline.signature);
          assert.equal(context?.copies, brick?.copies?.copies);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('has a footprint if the runtime keeps a profile, and copies but of bricks that are measured together', () => {
    fc.assert(
      fc.property(generatedModels({ maxSteps: 10 }), granularities, ways, (generated, granularity, way) => {
        const { recipe, bricks } = decomposed(layerGraphOf(generated), granularity, way);
        assert.equal(recipe.footprint_bytes !== undefined, way !== 'copies');
        for (const { model, copies } of bricks) {
          const { nodes } = parseModel(model, 'brick').graph;
          const hasSubgraphs = nodes.some(({ attributes }) => listSubgraphs(attributes).length > 0);
          assert.equal(copies !== undefined, way !== 'together' || hasSubgraphs);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('has four copies of a loop in one graph', () => {
    for (const bytes of [recurrentScan(1024), recurrentLoop(1024)]) {
      const { recipe, bricks } = decomposed(layerGraph(parseModel(bytes, 'loop')), 1, 'together');
      assert.ok(recipe.footprint_bytes !== undefined);
      assert.deepEqual(
        recipe.bricks.map(({ operators, context }) => [operators[0], context?.copies]),
        [
          ['MatMul', undefined],
          [recipe.bricks[1]?.operators[0], 4],
        ],
      );
      const copies = bricks[1]?.copies?.benchmark;
      const nodes = copies === undefined ? [] : parseModel(copies.model, 'copies').graph.nodes;
      assert.equal(nodes.filter(({ attributes }) => listSubgraphs(attributes).length > 0).length, 4);
    }
  });

  test('has a footprint of a power of two, at least its weights', () => {
    const { recipe } = decomposed(maskedBlocks(6), 1, 'together');
    const { footprint_bytes: bytes = NaN } = recipe;
    assert.ok(Number.isInteger(Math.log2(bytes)), `${bytes}`);
    // One activation alone has 16 * 256 * 256 numbers of 4 bytes; the block's input, its result and the mask live at once.
    assert.ok(bytes >= 2 * 4 * 2 ** 20, `${bytes}`);
  });
});

/** A chain of kernels that read and write this many numbers. */
function chainOf(kernels: number, size: number): LayerGraph {
  const g = new GraphBuilder();
  let x = g.input('float32', [size]);
  for (let kernel = 0; kernel < kernels; kernel++) x = g.layer('Relu', [x], [size]);
  return layerGraph(g.model([x]));
}

describe('short kernels', () => {
  test('are sixteen or more that take less than five microseconds on average', () => {
    // Rough times: 2 us for a kernel, and a microsecond for 20 kB.
    assert.ok(hasShortKernels(chainOf(16, 1000)));
    assert.ok(!hasShortKernels(chainOf(15, 1000)));
    assert.ok(hasShortKernels(chainOf(16, 7400)));
    assert.ok(!hasShortKernels(chainOf(16, 7600)));
  });

  test('are cut into bricks of up to as many kernels as asked, which run as copies', () => {
    const { recipe, outputCopy } = decomposed(chainOf(100, 1000), 64, 'short');
    assert.deepEqual(
      recipe.bricks.map(({ operators, context }) => [operators.length, context?.copies]),
      [
        [64, 16],
        [36, 24],
      ],
    );
    assert.equal(outputCopy === undefined, recipe.handing_over === undefined);
  });
});

describe('the measurements that a recipe needs', () => {
  test('match the tasks of its bricks: the same signatures, protocols, contexts and levels', () => {
    fc.assert(
      fc.property(generatedModels({ maxSteps: 10 }), granularities, ways, (generated, granularity, way) => {
        const model = preparedOf(generated, granularity, way);
        const { recipe, call, outputCopy } = model;
        assert.ok(call !== undefined);
        const handed = outputCopy === undefined ? [] : [outputCopy.returned, outputCopy.kept];
        const tasks = [
          callTask('a call', call, SETTINGS),
          ...handed.map((benchmark) => callTask('handing over', benchmark, SETTINGS, outputCopyNeed)),
          ...bricksOfModel(model, SYSTEM).flatMap((brick) => brickTasks('a brick', brick, FIRST_OCCASION, SETTINGS)),
        ];
        assert.deepEqual(
          modelNeeds(recipe, SYSTEM, PROTOCOL).map((need) => wantedOfNeed(need, FIRST_OCCASION, SETTINGS)),
          tasks.map(({ request }) => buildWanted(request)),
        );
      }),
      { numRuns: 50 },
    );
  });

  test('are in the plan of an evaluation, each once', () => {
    fc.assert(
      fc.property(generatedModels({ maxSteps: 10 }), granularities, ways, (generated, granularity, way) => {
        const model = preparedOf(generated, granularity, way);
        const planned = firstTasks([model], SYSTEM, SETTINGS).map(({ request }) => request.benchmark.signature);
        const needed = modelNeeds(model.recipe, SYSTEM, PROTOCOL).map(({ signature }) => signature);
        assert.equal(new Set(planned).size, planned.length);
        assert.deepEqual(new Set(planned), new Set(needed));
      }),
      { numRuns: 50 },
    );
  });

  test('have several runs for each brick, but no more than the evaluation', () => {
    const { recipe } = decomposed(maskedBlocks(3), 4);
    for (const { protocol } of modelNeeds(recipe, SYSTEM, PROTOCOL)) {
      assert.ok(protocol.runs >= 3 && protocol.runs <= PROTOCOL.runs);
      assert.ok(protocol.minRuns <= protocol.runs);
    }
    const one = modelNeeds(recipe, SYSTEM, { ...PROTOCOL, runs: 1, minRuns: 1 });
    assert.deepEqual(new Set(one.map(({ protocol }) => protocol.runs)), new Set([1]));
  });

  test('have the evaluation’s protocol and the model’s footprint if bricks are measured together', () => {
    const { recipe } = decomposed(maskedBlocks(3), 4, 'together');
    const footprintBytes = footprintClass(recipe.footprint_bytes ?? NaN, SYSTEM.cacheBytes);
    const signatures = new Set(recipe.bricks.map(({ signature }) => signature));
    const ofBricks = modelNeeds(recipe, SYSTEM, PROTOCOL).filter(({ signature }) => signatures.has(signature));
    assert.equal(ofBricks.length, recipe.bricks.length);
    for (const { protocol, context, isOptimized } of ofBricks) {
      assert.deepEqual([protocol, context, isOptimized], [PROTOCOL, { footprintBytes }, true]);
    }
  });
});
