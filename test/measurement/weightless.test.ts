import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from '../support/property.js';
import {
  givenValues,
  modelFromBenchmark,
  computeSignature,
  weightlessBenchmark,
} from '../../src/measurement/weightless.js';
import type { Model, Tensor } from '../../src/onnx/model/model.js';
import { encodeModelToBytes } from '../../src/onnx/write/write-model.js';
import { floatTensor, GraphBuilder, int64Tensor } from '../plugins/dlbricks/support/graph-builder.js';
import { generatedModels } from '../plugins/dlbricks/support/generated-graph.js';

/** A model without its weights: sizes of weights instead of their values. */
function withoutValues({ graph, irVersion, opsets }: Model, kept: ReadonlyMap<string, Tensor>) {
  const { nodes, inputs, outputs, initializers, types } = graph;
  const constants = new Map(
    [...initializers].map(([name, tensor]) => {
      const { elementType, dims } = tensor;
      return [name, kept.has(name) ? tensor : { elementType, dims }];
    }),
  );
  return { irVersion, opsets, nodes, inputs, outputs, constants, types };
}

/** The constants that keep their values. */
function inlineConstants({ graph }: Model): ReadonlyMap<string, Tensor> {
  return new Map([...graph.initializers].filter(([, { data }]) => data.kind !== 'fill'));
}

describe('a model without its weights', () => {
  test('can be converted back to the same model, except for the values of its weights', () => {
    fc.assert(
      fc.property(generatedModels(), ({ model }) => {
        const back = modelFromBenchmark(weightlessBenchmark(model), 'back again');
        const kept = inlineConstants(back);
        assert.deepEqual(withoutValues(back, kept), withoutValues(model, kept));
      }),
    );
  });

  test('converted back and forth again, is the same benchmark: fills, roles and order included', () => {
    fc.assert(
      fc.property(generatedModels(), ({ model }) => {
        const benchmark = weightlessBenchmark(model);
        assert.deepEqual(weightlessBenchmark(modelFromBenchmark(benchmark, 'back again')), benchmark);
      }),
    );
  });

  test('keeps the values that a user gave to inputs, and gives none to the others', () => {
    fc.assert(
      fc.property(generatedModels(), fc.boolean(), ({ model }, isList) => {
        const values = { low: 2, high: 5, list: isList ? [2, 5, 3] : undefined };
        const given = new Map(model.graph.inputs.slice(0, 1).map((name) => [name, values]));
        const benchmark = weightlessBenchmark({ ...model, graph: { ...model.graph, given } });
        assert.deepEqual(givenValues(benchmark), given);
        assert.deepEqual(modelFromBenchmark(benchmark, 'back again').graph.given, given);
      }),
    );
  });

  test('has activations in the order of the model, then weights, each with a seed of its own', () => {
    fc.assert(
      fc.property(generatedModels(), ({ model }) => {
        const { inputs } = weightlessBenchmark(model);
        const activations = inputs.filter(({ role }) => role === 'activation');
        assert.deepEqual(
          inputs.slice(0, activations.length).map(({ name }) => name),
          model.graph.inputs,
        );
        assert.equal(new Set(inputs.map(({ fill }) => fill.seed)).size, inputs.length);
      }),
    );
  });

  test('keeps constants that steer an operator, and fills weights within the domain of their operator', () => {
    const g = new GraphBuilder();
    const x = g.input('float32', [2, 3]);
    const divisor = g.constant(floatTensor([1, 2, 3]));
    const shape = g.constant(int64Tensor([6]));
    const model = g.model([g.layer('Reshape', [g.layer('Div', [x, divisor], [2, 3]), shape], [6])]);
    const benchmark = weightlessBenchmark(model);
    const divisorFill = { low: 0.5, high: 1.5, seed: 2 };
    assert.deepEqual(benchmark.inputs, [
      { name: x, role: 'activation', elementType: 'float32', dims: [2, 3], fill: { low: -1, high: 1, seed: 1 } },
      { name: divisor, role: 'weight', elementType: 'float32', dims: [3], fill: divisorFill },
    ]);
    const { initializers } = modelFromBenchmark(benchmark, 'back again').graph;
    assert.deepEqual(initializers.get(divisor)?.data, { kind: 'fill', fill: divisorFill });
    assert.deepEqual(initializers.get(shape), model.graph.initializers.get(shape));
  });

  test('needs the sizes of its inputs', () => {
    const g = new GraphBuilder();
    const x = g.input('float32', [2, 3]);
    const model = g.model([g.layer('Relu', [x], [2, 3])]);
    const types = new Map([...model.graph.types, [x, { elementType: 'float32', dims: ['N', 3] }] as const]);
    assert.throws(() => weightlessBenchmark({ ...model, graph: { ...model.graph, types } }), {
      code: 'model',
      message: `hidden.file.onnx: input ${x} has no static shape; bind its dimensions in a model manifest`,
    });
  });

  test('has the name that its reader gives', () => {
    const [generated] = fc.sample(generatedModels(), { numRuns: 1, seed: 1 });
    assert.ok(generated !== undefined);
    assert.equal(modelFromBenchmark(weightlessBenchmark(generated.model), 'x.onnx').source, 'x.onnx');
  });
});

test('a benchmark is named by the SHA-256 of its file', () => {
  fc.assert(
    fc.property(generatedModels({ maxSteps: 4 }), ({ model }) => {
      const benchmark = weightlessBenchmark(model);
      assert.equal(benchmark.signature, createHash('sha256').update(benchmark.model).digest('hex'));
      assert.equal(benchmark.signature, computeSignature(benchmark.model));
      assert.notEqual(computeSignature(encodeModelToBytes(model)), computeSignature(new Uint8Array()));
    }),
  );
});
