import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../support/property.js';
import {
  brickTasks,
  emptyCallTask,
  planTasks,
  systemOfTask,
  wantedOf,
} from '../../../../plugins/dlbricks/measure/plan.js';
import { type DecomposedModel, decomposeKernels } from '../../../../plugins/dlbricks/bricks/unique-bricks.js';
import { weightlessBenchmark } from '../../../../src/measurement/weightless.js';
import { layerGraph, type LayerGraph } from '../../../../src/onnx/layer-graph.js';
import { PROTOCOL, SYSTEM } from '../../../store/sample-measurement.js';
import { chainModel } from '../support/chain-model.js';
import { generatedModels, layerGraphOf } from '../support/generated-graph.js';
import { GraphBuilder } from '../support/graph-builder.js';
import { renamed } from '../support/rename-model.js';

const granularities = fc.integer({ min: 1, max: 8 });

function decomposed(graph: LayerGraph, granularity: number): DecomposedModel {
  return decomposeKernels('model', graph, granularity, {
    layers: graph.layers.length,
    ends: { inputs: graph.inputs.length, outputs: graph.outputs.length },
    surroundings: { modelWeightBytes: 2 ** 20, cacheBytes: 2 ** 25 },
  });
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
    // The last one is the model's last reader of the mask, and makes its output: the same brick nevertheless.
    assert.equal(bricks.length, 1);
    assert.deepEqual(bricks[0]?.operators, ['Conv', 'Relu', 'Mul', 'Add']);
  });

  test('is the same whatever anything is called', () => {
    fc.assert(
      fc.property(generatedModels({ maxSteps: 10 }), granularities, (generated, granularity) => {
        const before = decomposed(layerGraphOf(generated), granularity);
        const after = decomposed(layerGraphOf(renamed(generated)), granularity);
        assert.deepEqual(after.recipe, before.recipe);
      }),
    );
  });

  test('says of each brick what it was measured as', () => {
    fc.assert(
      fc.property(generatedModels({ maxSteps: 10 }), granularities, (generated, granularity) => {
        const { recipe, bricks, call } = decomposed(layerGraphOf(generated), granularity);
        assert.equal(recipe.call, call?.signature);
        assert.equal(recipe.bricks.length, bricks.length);
        for (const [index, { signature, context }] of recipe.bricks.entries()) {
          const brick = bricks[index];
          assert.equal(signature, brick?.signature);
          assert.equal(context?.benchmark, brick?.context?.benchmark.signature);
          assert.equal(context?.baseline, brick?.context?.baseline.signature);
          assert.equal(context?.copies, brick?.context?.copies);
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('what a recipe needs measured', () => {
  test('is what its bricks are measured as: the same signatures, protocols and levels', () => {
    fc.assert(
      fc.property(generatedModels({ maxSteps: 10 }), granularities, (generated, granularity) => {
        const { recipe, bricks, call } = decomposed(layerGraphOf(generated), granularity);
        assert.ok(call !== undefined);
        const tasks = [
          emptyCallTask(call, PROTOCOL),
          ...bricks.flatMap((brick) => brickTasks('a brick', brick, PROTOCOL)),
        ];
        assert.deepEqual(
          wantedOf(recipe, PROTOCOL),
          tasks.map(({ benchmark: { signature }, protocol, optimizationLevel }) => {
            return { benchmark: { signature }, protocol, optimizationLevel };
          }),
        );
      }),
      { numRuns: 50 },
    );
  });

  test('is in the plan of an evaluation, each once', () => {
    fc.assert(
      fc.property(generatedModels({ maxSteps: 10 }), granularities, (generated, granularity) => {
        const model = decomposed(layerGraphOf(generated), granularity);
        const planned = planTasks([{ ...model, whole: weightlessBenchmark(generated.model) }], PROTOCOL, false);
        const signatures = planned.map(({ benchmark }) => benchmark.signature);
        const wanted = wantedOf(model.recipe, PROTOCOL).map(({ benchmark }) => benchmark.signature);
        assert.equal(new Set(signatures).size, signatures.length);
        assert.deepEqual(new Set(signatures), new Set(wanted));
      }),
      { numRuns: 50 },
    );
  });

  test('asks no brick for more runs than the evaluation, and for several', () => {
    const { recipe } = decomposed(maskedBlocks(3), 4);
    for (const { protocol } of wantedOf(recipe, PROTOCOL)) {
      assert.ok(protocol.runs >= 3 && protocol.runs <= PROTOCOL.runs);
      assert.ok(protocol.minRuns <= protocol.runs);
    }
    const one = wantedOf(recipe, { ...PROTOCOL, runs: 1, minRuns: 1 });
    assert.deepEqual(new Set(one.map(({ protocol }) => protocol.runs)), new Set([1]));
  });
});

describe('the system that something is measured on', () => {
  const benchmark = weightlessBenchmark(chainModel('Relu'));

  test('is the evaluation’s own where nothing else is asked for', () => {
    assert.deepEqual(systemOfTask(SYSTEM, { benchmark, protocol: PROTOCOL }), SYSTEM);
  });

  test('is another one for kernels, which run as they are', () => {
    const system = systemOfTask(SYSTEM, { benchmark, protocol: PROTOCOL, optimizationLevel: 'disabled' });
    assert.notEqual(system.fingerprint, SYSTEM.fingerprint);
    assert.deepEqual(system.runOptions, { ...SYSTEM.runOptions, optimizationLevel: 'disabled' });
    const { fingerprint, runOptions } = SYSTEM;
    assert.deepEqual({ ...system, fingerprint, runOptions }, SYSTEM);
  });

  test('is the same for kernels where the evaluation optimizes nothing either', () => {
    const plain = systemOfTask(SYSTEM, { benchmark, protocol: PROTOCOL, optimizationLevel: 'disabled' });
    assert.deepEqual(systemOfTask(plain, { benchmark, protocol: PROTOCOL, optimizationLevel: 'disabled' }), plain);
  });
});
