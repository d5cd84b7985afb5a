import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { assertRefused } from '../../rpc/support/refusal.js';
import { optimizeGraph } from '../../../src/agent/jobs/optimize-graph.js';
import { removeTemporaryFolders, temporaryFolderPath } from '../../../src/agent/jobs/temporary-folder.js';
import type { Benchmark } from '../../../src/measurement/benchmark.js';
import { weightlessBenchmark } from '../../../src/measurement/weightless.js';
import { bindDimensions } from '../../../src/onnx/layers/bind-dimensions.js';
import { readModel, parseModel } from '../../../src/onnx/read/read-model.js';
import { encodeModelToBytes } from '../../../src/onnx/write/write-model.js';
import { InferenceSession } from '../../../src/predictor/onnxruntime/library.js';
import { inMemory } from '../../../src/predictor/memory-folder.js';
import { onnxRuntimePredictor } from '../../../src/predictor/onnxruntime/predictor.js';
import type { Predictor } from '../../../src/predictor/predictor.js';
import { buildZooModel } from '../../../src/zoo/zoo.js';
import { withTemporaryFolder } from '../../onnx/temporary-folder.js';
import { fakeContext, fakePredictor } from '../support/fake-context.js';
import { agentForSuite } from '../support/running-agent.js';
import { benchmarkOf, relu, unknownOperator } from '../support/tiny-benchmarks.js';

const RUN_OPTIONS = { threads: 1, executionProvider: 'cpu', optimizationLevel: 'all' } as const;

/** Operators, domains and attributes of a graph's nodes, in order; names and values left out. */
function kernelsOf(model: Awaited<ReturnType<typeof readModel>>): readonly string[] {
  return model.graph.nodes.map(({ domain, opType, attributes }) => {
    const settings = attributes.map(({ name, f, i, s, floats, ints }) => [
      name,
      f,
      `${i}`,
      [...s],
      floats,
      ints.map(String),
    ]);
    const digest = createHash('sha256').update(JSON.stringify(settings)).digest('hex').slice(0, 12);
    return `${domain}:${opType}:${digest}`;
  });
}

describe('optimizing', { timeout: 300_000 }, () => {
  const agent = agentForSuite();

  test('a graph comes back as kernels, without weights and with every type', async () => {
    const model = bindDimensions(buildZooModel('squeezenet1.1'), new Map(), { batch: 1 });
    const { benchmark, values } = await agent().client.optimize(weightlessBenchmark(model), RUN_OPTIONS);
    const { graph } = parseModel(benchmark.model, 'optimized');

    assert.ok(graph.nodes.length < model.graph.nodes.length, 'nothing was fused');
    assert.ok(benchmark.model.length < 100_000, 'weights came back');
    for (const output of graph.nodes.flatMap(({ outputs }) => outputs))
      assert.ok(values.has(output), `no type of ${output}`);
  });

  test('the kernels are the same as with the real weights', async () => {
    const model = bindDimensions(buildZooModel('squeezenet1.1'), new Map(), { batch: 1 });
    const { benchmark } = await agent().client.optimize(weightlessBenchmark(model), RUN_OPTIONS);
    await withTemporaryFolder(async (folder) => {
      const optimizedModelFilePath = join(folder, 'optimized.onnx');
      const session = await InferenceSession.create(encodeModelToBytes(model), {
        graphOptimizationLevel: 'all',
        intraOpNumThreads: 1,
        logSeverityLevel: 3,
        optimizedModelFilePath,
      });
      await session.release();
      assert.deepEqual(
        kernelsOf(parseModel(benchmark.model, 'filled')),
        kernelsOf(await readModel(optimizedModelFilePath)),
      );
    });
  });

  test('the run options set the optimization level', async () => {
    const model = bindDimensions(buildZooModel('squeezenet1.1'), new Map(), { batch: 1 });
    const whole = weightlessBenchmark(model);
    const { benchmark } = await agent().client.optimize(whole, { ...RUN_OPTIONS, optimizationLevel: 'disabled' });
    assert.equal(parseModel(benchmark.model, 'as it was').graph.nodes.length, model.graph.nodes.length);
  });

  test('a graph that the runtime refuses is an error that says so, and the agent continues', async () => {
    await assertRefused(() => agent().client.optimize(unknownOperator, RUN_OPTIONS), 'unsupported');
    assert.ok((await agent().client.optimize(relu, RUN_OPTIONS)).costMs >= 0);
  });
});

/** A tower of two matrices of 32 MB, and one of two filters of the same size: y = f(f(x)). */
const [MATRICES, FILTERS] = (
  [
    ['MatMul', [1, 2896], [2896, 2896]],
    ['Conv', [1, 2896, 1, 1], [2896, 2896, 1, 1]],
  ] as const
).map(([opType, x, w]) =>
  benchmarkOf({
    inputs: { x: { dims: x }, v: { dims: w, role: 'weight' }, w: { dims: w, role: 'weight' } },
    nodes: [
      { opType, inputs: ['x', 'v'], outputs: ['between'] },
      { opType, inputs: ['between', 'w'], outputs: ['y'] },
    ],
    outputs: ['y'],
  }),
) as [Benchmark, Benchmark];

/** What the runtime was asked for, and the graph. @param refuses whether it cannot write weights into the model */
async function optimizeWatched(benchmark: Benchmark, { refuses = false } = {}) {
  const real = onnxRuntimePredictor();
  const asked: { readonly keepsWeights: boolean; readonly inMemory: boolean }[] = [];
  const predictor: Predictor = {
    ...real,
    async optimize(model, runOptions, folder, { keepsWeights }) {
      asked.push({ keepsWeights, inMemory: folder.startsWith('/dev/shm/') });
      const path = await real.optimize(model, runOptions, folder, { keepsWeights });
      if (refuses && keepsWeights) throw new Error('Protobuf serialization failed.');
      return path;
    },
  };
  const temporaryFolder = temporaryFolderPath();
  const job = { kind: 'optimize', benchmark, runOptions: RUN_OPTIONS, memoryLimitBytes: 2 ** 30 } as const;
  try {
    const { benchmark: optimized } = await optimizeGraph(job, fakeContext({ predictor, temporaryFolder }));
    return { asked, graph: parseModel(optimized.model, 'optimized').graph, left: listLeft(temporaryFolder) };
  } finally {
    removeTemporaryFolders(temporaryFolder);
  }
}

function listLeft(temporaryFolder: string): readonly string[] {
  return [temporaryFolder, inMemory(temporaryFolder)].flatMap((folder) =>
    existsSync(folder) ? readdirSync(folder) : [],
  );
}

const skip = process.platform === 'linux' ? false : 'other systems have no memory for files';

describe('large weights of a graph that is optimized', { skip }, () => {
  test('are not read where the runtime keeps them as they are', async () => {
    const { asked, graph, left } = await optimizeWatched(MATRICES);
    assert.deepEqual(asked, [{ keepsWeights: true, inMemory: true }]);
    assert.deepEqual(
      graph.nodes.map(({ opType }) => opType),
      ['MatMul', 'MatMul'],
    );
    assert.deepEqual(left, []);
  });

  test('are discarded where the runtime reorders them', async () => {
    const { asked, left } = await optimizeWatched(FILTERS);
    assert.deepEqual(asked, [{ keepsWeights: false, inMemory: false }]);
    assert.deepEqual(left, []);
  });

  test('are discarded where nodes of constants compute others from them', async () => {
    const transposed = benchmarkOf({
      inputs: { x: { dims: [1, 2896] }, w: { dims: [2896, 2896], role: 'weight' } },
      nodes: [
        { opType: 'Transpose', inputs: ['w'], outputs: ['t'] },
        { opType: 'MatMul', inputs: ['x', 't'], outputs: ['y'] },
      ],
      outputs: ['y'],
    });
    const { asked } = await optimizeWatched(transposed);
    assert.deepEqual(asked, [{ keepsWeights: false, inMemory: false }]);
  });

  test('are discarded where a model with the changed ones cannot be written', async () => {
    const { asked, graph } = await optimizeWatched(MATRICES, { refuses: true });
    assert.deepEqual(
      asked.map(({ keepsWeights }) => keepsWeights),
      [true, false],
    );
    assert.equal(graph.nodes.length, 2);
  });
});

test(
  'large weights stay where at most half of them change: filters, and what is computed from constants',
  { skip },
  async () => {
    const nodes = (opType: string, x: string, w: string, y: string) => ({ opType, inputs: [x, w], outputs: [y] });
    /** Whether the runtime writes the weights v and w, of so many KiB, into memory. */
    const isInMemory = async (vKiB: number, wKiB: number, ...list: readonly ReturnType<typeof nodes>[]) => {
      const weight = (kib: number) => ({ dims: [kib, 256], role: 'weight' }) as const;
      const benchmark = benchmarkOf({
        inputs: { x: { dims: [1, 256] }, v: weight(vKiB), w: weight(wKiB) },
        nodes: [...list],
        outputs: ['y'],
      });
      const folders: string[] = [];
      const optimize: Predictor['optimize'] = (_model, _runOptions, folder) => {
        folders.push(folder);
        return Promise.reject(new Error('not needed'));
      };
      const predictor = { ...fakePredictor({}), mapsWeightFiles: true, optimize };
      const context = fakeContext({ predictor, temporaryFolder: temporaryFolderPath() });
      const job = { kind: 'optimize', benchmark, runOptions: RUN_OPTIONS, memoryLimitBytes: 2 ** 30 } as const;
      await assert.rejects(optimizeGraph(job, context), /not needed/);
      removeTemporaryFolders(context.temporaryFolder);
      return folders[0]?.startsWith('/dev/shm/');
    };
    const products = [nodes('MatMul', 'x', 'v', 'h'), nodes('MatMul', 'h', 'w', 'y')];
    assert.equal(await isInMemory(8192, 8192, ...products), true);
    assert.equal(await isInMemory(8192, 8191, ...products), false, 'less than 16 MiB');
    const filters = [nodes('Conv', 'x', 'v', 'h'), nodes('MatMul', 'h', 'w', 'y')];
    assert.equal(await isInMemory(8192, 8192, ...filters), true);
    assert.equal(await isInMemory(8193, 8192, ...filters), false);
    const computed = [
      nodes('Transpose', 'v', '', 't'),
      nodes('Add', 't', 'w', 'sum'),
      nodes('MatMul', 'x', 'sum', 'y'),
    ];
    assert.equal(await isInMemory(1, 16384, ...computed), false);
  },
);

test('a file that the runtime did not write is the error of the job', async () => {
  await withTemporaryFolder(async (temporaryFolder) => {
    const predictor = { ...fakePredictor({}), optimize: () => Promise.resolve(join(temporaryFolder, 'nothing.onnx')) };
    const job = { kind: 'optimize', benchmark: relu, runOptions: RUN_OPTIONS, memoryLimitBytes: 2 ** 30 } as const;
    await assert.rejects(optimizeGraph(job, fakeContext({ predictor, temporaryFolder })), /nothing\.onnx/);
  });
});
