import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import type { Benchmark } from '../../src/measurement/benchmark.js';
import type { ElementType } from '../../src/onnx/model/element-type.js';
import { readModel } from '../../src/onnx/read/read-model.js';
import { makeFeeds, materialize } from '../../src/predictor/materialize.js';
import { openFilledModel, optimizeFilledModel } from '../../src/predictor/open-filled-model.js';
import type { Predictor } from '../../src/predictor/predictor.js';
import type { TensorValue } from '../../src/predictor/tensor-value.js';
import {
  benchmarkOf,
  convolution,
  failingReshape,
  int64Constant,
  intAttribute,
  matMul,
  relu,
  runOptions,
  type TinyGraph,
  unknownOperator,
} from '../agent/support/tiny-benchmarks.js';
import { withTemporaryFolder } from '../onnx/temporary-folder.js';
import { floatsOf, matMulResult } from './values.js';

/** Element types that the runtimes' JavaScript interface passes in and out, except for packed types. */
const FEEDABLE: readonly ElementType[] = [
  ...(['float16', 'float32', 'float64', 'int8', 'uint8', 'int16', 'uint16'] as const),
  ...(['int32', 'uint32', 'int64', 'uint64', 'bool'] as const),
];

/** Small enough that every model with a weight has it in a file. */
const NOTHING_INLINE = 100;

/** A convolution followed by a Relu, which every optimizer fuses. */
const fusible: TinyGraph = {
  inputs: { x: { dims: [1, 4, 9, 9] }, w: { dims: [6, 4, 3, 3], role: 'weight' } },
  nodes: [
    { opType: 'Conv', inputs: ['x', 'w'], outputs: ['sum'] },
    { opType: 'Relu', inputs: ['sum'], outputs: ['y'] },
  ],
  outputs: ['y'],
};

export interface PredictorUnderTest {
  /** The name of the framework. */
  readonly name: string;
  readonly predictor: Predictor;
  /** Whether it optimizes models too large for memory. */
  readonly optimizesFromFiles: boolean;
}

/** The requirements on every predictor. */
export function describePredictor({ name, predictor, optimizesFromFiles }: PredictorUnderTest): void {
  /** The outputs of one run. */
  async function evaluate(benchmark: Benchmark, inlineLimitBytes?: number): Promise<ReadonlyMap<string, TensorValue>> {
    return withTemporaryFolder(async (folder) => {
      const options = { temporaryFolder: join(folder, 'weights'), ...(inlineLimitBytes && { inlineLimitBytes }) };
      const model = await openFilledModel(predictor, materialize(benchmark), runOptions, options);
      try {
        return await model.prepare(makeFeeds(benchmark)).evaluate();
      } finally {
        await model.close();
      }
    });
  }

  describe(`the predictor of ${name}`, { timeout: 300_000 }, () => {
    test('has its name and a semantic version', () => {
      assert.equal(predictor.framework.name, name);
      assert.match(predictor.framework.version, /^\d+\.\d+\.\d+(?:\+[0-9A-Za-z.-]+)?$/);
    });

    test('computes', async () => {
      const outputs = await evaluate(matMul);
      const expected = matMulResult(matMul);
      assert.ok(floatsOf(outputs.get('y')).every((value, j) => Math.abs(value - (expected[j] ?? NaN)) < 1e-5));
    });

    for (const elementType of FEEDABLE) {
      test(`passes ${elementType} in and out unchanged`, async () => {
        const benchmark = benchmarkOf({
          inputs: { x: { dims: [3, 5], elementType } },
          nodes: [{ opType: 'Identity', inputs: ['x'], outputs: ['y'] }],
          outputs: ['y'],
        });
        const fed = makeFeeds(benchmark).get('x');
        const returned = (await evaluate(benchmark)).get('y');
        assert.deepEqual(
          returned && { ...returned, bytes: [...returned.bytes] },
          fed && { ...fed, bytes: [...fed.bytes] },
        );
      });
    }

    test('accepts a type that JavaScript cannot pass in', async () => {
      const benchmark = benchmarkOf({
        inputs: { x: { dims: [3], elementType: 'bfloat16' } },
        nodes: [{ opType: 'Cast', inputs: ['x'], outputs: ['y'], attributes: [intAttribute('to', 1)] }],
        outputs: ['y'],
      });
      const { elementType, dims } = (await evaluate(benchmark)).get('y') ?? assert.fail();
      assert.deepEqual([elementType, dims], ['float32', [3]]);
    });

    test('leaves out outputs that are not tensors', async () => {
      const outputs = await evaluate(
        benchmarkOf({
          inputs: { x: { dims: [4] } },
          nodes: [
            { opType: 'SequenceConstruct', inputs: ['x', 'x'], outputs: ['sequence'] },
            { opType: 'SequenceAt', inputs: ['sequence', 'one'], outputs: ['y'] },
          ],
          outputs: ['sequence', 'y'],
          constants: { one: int64Constant([], [1]) },
        }),
      );
      assert.deepEqual([...outputs.keys()], ['y']);
    });

    test('refuses an operator that it does not have, naming it', async () => {
      await assert.rejects(evaluate(unknownOperator), /NoSuchOperator/);
    });

    test('says why a run failed', async () => {
      await assert.rejects(evaluate(failingReshape), /tensor cannot be reshaped/);
    });

    test('opens the next model after one that it refused', async () => {
      await assert.rejects(evaluate(unknownOperator));
      assert.equal(floatsOf((await evaluate(relu)).get('y')).length, 24);
    });

    test('gives the same outputs with the weights in a file', async () => {
      const inline = await evaluate(convolution);
      const external = await evaluate(convolution, NOTHING_INLINE);
      assert.deepEqual(floatsOf(external.get('y')), floatsOf(inline.get('y')));
    });

    test('runs as often as asked', async () => {
      await withTemporaryFolder(async (folder) => {
        const options = { temporaryFolder: join(folder, 'weights') };
        const model = await openFilledModel(predictor, materialize(relu), runOptions, options);
        const run = model.prepare(makeFeeds(relu));
        for (let times = 0; times < 3; times++) await run.execute();
        assert.deepEqual([...(await run.evaluate()).keys()], ['y']);
        await model.close();
      });
    });

    test('hands out its optimized graph', async () => {
      await withTemporaryFolder(async (parent) => {
        const folder = join(parent, 'optimized');
        mkdirSync(folder);
        const options = { folder, keepsWeights: true, temporaryFolder: join(parent, 'weights') };
        const path = await optimizeFilledModel(predictor, materialize(benchmarkOf(fusible)), runOptions, options);
        const { graph } = await readModel(path);

        assert.equal(dirname(path), folder);
        assert.equal(graph.nodes.filter(({ opType }) => opType === 'Relu').length, 0, 'the Relu was not fused');
        assert.ok(graph.nodes.some(({ opType }) => /Conv/.test(opType)));
      });
    });

    test('hands out the optimized graph of a model with its weights in a file, or says that it cannot', async () => {
      await withTemporaryFolder(async (folder) => {
        const options = {
          folder,
          keepsWeights: true,
          temporaryFolder: join(folder, 'weights'),
          inlineLimitBytes: NOTHING_INLINE,
        };
        const optimizing = optimizeFilledModel(predictor, materialize(benchmarkOf(fusible)), runOptions, options);
        if (optimizesFromFiles) assert.equal(dirname(await optimizing), folder);
        else await assert.rejects(optimizing, /saves optimized graphs only of .* --cut layer/);
        const left = existsSync(options.temporaryFolder) ? readdirSync(options.temporaryFolder) : [];
        assert.deepEqual(left, [], 'the weights were left behind');
      });
    });

    test('optimizes as far as the run options say', async () => {
      await withTemporaryFolder(async (folder) => {
        const options = { folder, keepsWeights: true, temporaryFolder: join(folder, 'weights') };
        const asItWas = { ...runOptions, optimizationLevel: 'disabled' } as const;
        const path = await optimizeFilledModel(predictor, materialize(benchmarkOf(fusible)), asItWas, options);
        const { nodes } = (await readModel(path)).graph;
        assert.deepEqual(
          nodes.map(({ opType }) => opType),
          ['Conv', 'Relu'],
        );
      });
    });

    test('gives the keys of a session to the runtime', async () => {
      await withTemporaryFolder(async (folder) => {
        const options = { folder, keepsWeights: true, temporaryFolder: join(folder, 'weights') };
        const session = ['optimization.disable_specified_optimizers=ConvActivationFusion;NchwcTransformer'];
        const unfused = { ...runOptions, session };
        const path = await optimizeFilledModel(predictor, materialize(benchmarkOf(fusible)), unfused, options);
        const { nodes } = (await readModel(path)).graph;
        assert.ok(nodes.some(({ opType }) => opType === 'Relu'));
      });
    });

    test('refuses to optimize what it refuses to open', async () => {
      await withTemporaryFolder(async (folder) => {
        const options = { folder, keepsWeights: true, temporaryFolder: join(folder, 'weights') };
        const optimizing = optimizeFilledModel(predictor, materialize(unknownOperator), runOptions, options);
        await assert.rejects(optimizing, /NoSuchOperator/);
      });
    });
  });
}
