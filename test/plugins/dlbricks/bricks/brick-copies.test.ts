import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../support/property.js';
import { type Brick, cutBrick } from '../../../../plugins/dlbricks/bricks/brick.js';
import { lastUses } from '../../../../plugins/dlbricks/cut/last-uses.js';
import { copiesFor, copyBrick, copyShortBrick, MAX_COPIES } from '../../../../plugins/dlbricks/bricks/brick-copies.js';
import { countEnds } from '../../../../plugins/dlbricks/bricks/decompose.js';
import { emptyCall } from '../../../../plugins/dlbricks/bricks/empty-call.js';
import { optimizeGraph } from '../../../../src/agent/jobs/optimize-graph.js';
import type { Benchmark } from '../../../../src/measurement/benchmark.js';
import { hoistSubgraphWeights } from '../../../../src/onnx/layers/hoist-subgraph-weights.js';
import { layerGraph } from '../../../../src/onnx/layers/layer-graph.js';
import type { Graph } from '../../../../src/onnx/model/model.js';
import { parseModel } from '../../../../src/onnx/read/read-model.js';
import { readNames } from '../../../../src/onnx/model/subgraphs.js';
import { onnxRuntimePredictor } from '../../../../src/predictor/onnxruntime/predictor.js';
import { elementsOf } from '../../../../src/predictor/tensor-value.js';
import { graph, graphAttribute, model, node, value } from '../../../onnx/protos.js';
import { generatedModels, layerGraphOf } from '../support/generated-graph.js';
import { temporaryFolder } from '../../../store/temporary-folder.js';
import { GraphBuilder } from '../support/graph-builder.js';
import { runBenchmark } from '../support/runtime.js';

const MIB = 2 ** 20;

/** Any brick of a generated model, of up to four kernels. */
const bricks: fc.Arbitrary<Brick> = fc
  .tuple(generatedModels({ maxSteps: 8 }), fc.nat({ max: 1000 }), fc.nat({ max: 3 }))
  .map(([generated, at, more]) => {
    const layers = layerGraphOf(generated);
    const first = at % layers.layers.length;
    const last = Math.min(first + more, layers.layers.length - 1);
    return cutBrick(layers, lastUses(layers), { first, last });
  });

const copyCounts = fc.integer({ min: 1, max: 4 });

function graphOf({ model }: Benchmark): Graph {
  return parseModel(model, 'test').graph;
}

/** How often each operator is in a graph. */
function census({ nodes }: Graph): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { opType } of nodes) counts.set(opType, (counts.get(opType) ?? 0) + 1);
  return counts;
}

/** Kernels of the copies, one list per copy. */
function copiesIn(benchmark: Benchmark, brick: Brick, copies: number): readonly Graph['nodes'][] {
  const { nodes } = graphOf(benchmark);
  const { nodes: own, outputs } = graphOf(brick);
  const perCopy = own.length + outputs.length;
  return Array.from({ length: copies }, (_, copy) => nodes.slice(copy * perCopy, copy * perCopy + own.length));
}

/** A convolution, and an If with two branches. One of them reads a weight of the surrounding graph. */
function branchingBrick(): Brick {
  const g = new GraphBuilder();
  const dims = [1, 2, 4, 4];
  const flag = g.input('bool', []);
  const x = g.layer('Conv', [g.input('float32', dims), g.weight([2, 2, 1, 1], 2)], dims);
  const weight = g.weight([1, 2, 1, 1], 2);
  const output = [value('chosen', dims)];
  const whenTrue = graph({ name: 'yes', node: [node('Mul', [x, weight], ['chosen'])], output });
  const whenFalse = graph({ name: 'no', node: [node('Relu', [x], ['chosen'])], output });
  const attributes = [graphAttribute('then_branch', whenTrue), graphAttribute('else_branch', whenFalse)];
  const layers = layerGraph(hoistSubgraphWeights(g.model([g.layer('If', [flag], dims, attributes)])));
  return cutBrick(layers, lastUses(layers), { first: 0, last: 1 });
}

describe('a brick in context', () => {
  test('runs, and outputs the dimensions of every output of every copy', async () => {
    await fc.assert(
      fc.asyncProperty(bricks, copyCounts, async (brick, copies) => {
        const alone = await runBenchmark(brick);
        const ranks = [...alone.values()].reduce((sum, { dims }) => sum + dims.length, 0);
        const together = [...(await runBenchmark(copyBrick(brick, copies).benchmark)).values()];

        assert.equal(together.length, 1);
        const [joined] = together;
        assert.ok(joined !== undefined);
        assert.equal(joined.elementType, 'int64');
        assert.deepEqual(joined.dims, [copies * ranks]);
        const once = [...alone.values()].flatMap(({ dims }) => dims);
        const expected = Array.from({ length: copies }, () => once).flat();
        assert.deepEqual(Array.from(elementsOf(joined), Number), expected);
      }),
      { numRuns: 40 },
    );
  });

  test('shares activations, and has separate weights in each copy', () => {
    fc.assert(
      fc.property(bricks, copyCounts, (brick, copies) => {
        const { inputs } = copyBrick(brick, copies).benchmark;
        const of = (role: string, { inputs: all }: Pick<Benchmark, 'inputs'>) =>
          all.filter((input) => input.role === role);
        const weights = of('weight', { inputs });

        assert.deepEqual(of('activation', { inputs }), of('activation', brick));
        assert.equal(weights.length, copies * of('weight', brick).length);
        assert.equal(new Set(weights.map(({ name }) => name)).size, weights.length);
        assert.equal(new Set(weights.map(({ fill }) => fill.seed)).size, weights.length);
      }),
    );
  });

  test('reads in each copy only the values and weights of that copy', () => {
    fc.assert(
      fc.property(fc.oneof(bricks, fc.constant(branchingBrick())), copyCounts, (brick, copies) => {
        const { benchmark } = copyBrick(brick, copies);
        const weights = new Set(benchmark.inputs.filter(({ role }) => role === 'weight').map(({ name }) => name));
        const seen = new Set<string>();
        for (const nodes of copiesIn(benchmark, brick, copies)) {
          const own = nodes.flatMap((kernel) => [
            ...readNames(kernel).filter((name) => weights.has(name)),
            ...kernel.outputs,
          ]);
          for (const name of new Set(own.filter((made) => made !== ''))) {
            assert.ok(!seen.has(name), `two copies have ${name}`);
            seen.add(name);
          }
        }
        for (const name of weights) assert.ok(seen.has(name), `no copy reads ${name}`);
      }),
    );
  });

  describe('of short kernels', () => {
    const weightsOf = ({ inputs }: Benchmark): readonly string[] => {
      return inputs.filter(({ role }) => role === 'weight').map(({ name }) => name);
    };
    /** A row of a large table, times a matrix of 64 KiB. */
    function lookup(): Brick {
      const g = new GraphBuilder();
      const row = g.layer('Gather', [g.weight([100_000, 128], 1), g.input('int64', [1])], [1, 128]);
      const layers = layerGraph(g.model([g.layer('MatMul', [row, g.weight([128, 128], 1)], [1, 128])]));
      return cutBrick(layers, lastUses(layers), { first: 0, last: 1 });
    }
    const copied = (modelWeightBytes: number) => {
      return copyShortBrick(lookup(), 0.1, { modelWeightBytes, cacheBytes: 2 ** 25 });
    };

    test('have as many sets of weights as fit into what the model touches, and a table once', () => {
      const [oneMatrix, threeMatrices, manyMatrices] = [1, 3, 1000].map((times) => copied(times * 128 * 128 * 4));
      assert.equal(oneMatrix?.copies, 24);
      assert.deepEqual(oneMatrix && weightsOf(oneMatrix.benchmark).length, 2);
      assert.deepEqual(threeMatrices && weightsOf(threeMatrices.benchmark).length, 4);
      assert.ok(manyMatrices);
      assert.equal(weightsOf(manyMatrices.benchmark).length, 1 + manyMatrices.copies);
    });

    test('take turns with the sets, and have values of their own', async () => {
      const { benchmark, copies } = copied(3 * 128 * 128 * 4);
      const weights = new Set(weightsOf(benchmark));
      const products = graphOf(benchmark).nodes.filter(({ opType }) => opType === 'MatMul');
      const read = products.map(({ inputs }) => inputs.filter((name) => weights.has(name)).join());
      assert.equal(read.length, copies);
      assert.equal(new Set(read).size, 3);
      assert.deepEqual(read.slice(3), read.slice(0, -3));
      assert.equal(new Set(products.flatMap(({ outputs }) => outputs)).size, copies);
      const [joined] = (await runBenchmark(benchmark)).values();
      assert.deepEqual(joined?.dims, [copies * 2]);
    });
  });

  test('runs with branches that read weights', async () => {
    const [joined] = (await runBenchmark(copyBrick(branchingBrick(), 3).benchmark)).values();
    assert.deepEqual(joined?.dims, [3 * 4]);
  });

  test('has every kernel once per copy if the runtime optimizes nothing', async (t) => {
    const g = new GraphBuilder();
    const x = g.input('float32', [1, 2, 4, 4]);
    const made = g.layer('Relu', [g.layer('Conv', [x, g.weight([2, 2, 1, 1], 2)], [1, 2, 4, 4])], [1, 2, 4, 4]);
    // Without weights all copies are the same, so that a runtime that optimizes would keep one.
    const other = g.layer('Tanh', [x], [1, 2, 4, 4]);
    const layers = layerGraph(g.model([made, other]));
    const brick = cutBrick(layers, lastUses(layers), { first: 0, last: 2 });
    const { benchmark } = await optimizeGraph(
      {
        kind: 'optimize',
        benchmark: copyBrick(brick, 3).benchmark,
        runOptions: { threads: 1, executionProvider: 'cpu', optimizationLevel: 'disabled' },
        memoryLimitBytes: 2 ** 30,
      },
      { predictor: onnxRuntimePredictor(), temporaryFolder: await temporaryFolder(t) },
    );
    const expected = { Conv: 3, Relu: 3, Tanh: 3, Shape: 6, Concat: 1 };
    assert.deepEqual(census(graphOf(benchmark)), new Map(Object.entries(expected)));
  });

  test('has as its baseline a call with as many inputs and Shape nodes, and nothing else', () => {
    fc.assert(
      fc.property(bricks, copyCounts, (brick, copies) => {
        const { benchmark, baseline } = copyBrick(brick, copies);
        const activations = brick.inputs.filter(({ role }) => role === 'activation').length;
        const shapes = copies * graphOf(brick).outputs.length;
        assert.equal(baseline.inputs.length, Math.max(1, activations));
        assert.deepEqual(
          census(graphOf(baseline)),
          new Map([
            ['Shape', shapes],
            ['Concat', 1],
          ]),
        );
        assert.equal(graphOf(benchmark).outputs.length, 1);
      }),
    );
  });

  test('states the type of its output, as the format asks for', () => {
    const { outputs, types } = graphOf(copyBrick(branchingBrick(), 2).benchmark);
    assert.deepEqual(
      outputs.map((name) => types.get(name)),
      [{ elementType: 'int64', dims: undefined }],
    );
  });

  test('has the same signatures every time, and different ones for different numbers of copies', () => {
    fc.assert(
      fc.property(bricks, (brick) => {
        assert.deepEqual(copyBrick(brick, 2), copyBrick(brick, 2));
        const signatures = [1, 2, 3].map((copies) => copyBrick(brick, copies).benchmark.signature);
        assert.equal(new Set([brick.signature, ...signatures]).size, 4);
      }),
    );
  });
});

describe('an empty call', () => {
  const calls = { inputs: fc.integer({ min: 1, max: 5 }), outputs: fc.integer({ min: 1, max: 5 }) };

  test('runs, with as many inputs and outputs as asked', async () => {
    await fc.assert(
      fc.asyncProperty(calls.inputs, calls.outputs, async (inputs, outputs) => {
        const call = emptyCall({ inputs, outputs }, { joined: false });
        assert.equal(call.inputs.length, inputs);
        assert.equal((await runBenchmark(call)).size, outputs);
      }),
      { numRuns: 15 },
    );
  });

  test('if joined, runs with one output that has an integer for each', async () => {
    await fc.assert(
      fc.asyncProperty(calls.inputs, calls.outputs, async (inputs, outputs) => {
        const results = await runBenchmark(emptyCall({ inputs, outputs }, { joined: true }));
        assert.deepEqual(
          [...results.values()].map(({ dims }) => dims),
          [[outputs]],
        );
      }),
      { numRuns: 15 },
    );
  });

  test('of a brick that reads nothing has one input, since a call has to have one', async () => {
    assert.equal((await runBenchmark(emptyCall({ inputs: 0, outputs: 2 }, { joined: true }))).size, 1);
  });

  // Stored measurements of empty calls are found by these signatures, also those of other versions; see
  // docs/storage.md.
  test('keeps its signature from version to version', () => {
    assert.equal(
      emptyCall({ inputs: 1, outputs: 1 }, { joined: false }).signature,
      '26eb65401595e18f639ebfbc2a077a7853dc178c6ad05fcac4521ce5f9c87079',
    );
    assert.equal(
      emptyCall({ inputs: 2, outputs: 3 }, { joined: true }).signature,
      '3d9549b28df5b130efaabbb341a6b32317b5d5322ad04737b0aa6338b2f17dd8',
    );
  });

  test('reads numbers from -1 to 1, different ones for each input', () => {
    const { inputs } = emptyCall({ inputs: 2, outputs: 1 }, { joined: true });
    assert.deepEqual(
      inputs.map(({ name, role, dims, fill }) => [name, role, dims, fill]),
      [
        ['x0', 'activation', [1], { low: -1, high: 1, seed: 1 }],
        ['x1', 'activation', [1], { low: -1, high: 1, seed: 2 }],
      ],
    );
  });

  test('hands over as many texts as asked, since each of them costs time', async () => {
    const call = emptyCall({ inputs: 2, outputs: 1, texts: 3000 }, { joined: false });
    assert.deepEqual(
      call.inputs.map(({ elementType, dims }) => [elementType, dims]),
      [
        ['string', [3000]],
        ['float32', [1]],
      ],
    );
    assert.equal((await runBenchmark(call)).size, 1);
    const none = emptyCall({ inputs: 2, outputs: 1, texts: 0 }, { joined: false });
    assert.equal(none.signature, emptyCall({ inputs: 2, outputs: 1 }, { joined: false }).signature);
  });

  test('returns as many texts as asked, in place of one of the shapes', async () => {
    const ends = { inputs: 1, outputs: 2, returned_texts: 3000 };
    const returned = [...(await runBenchmark(emptyCall(ends, { joined: false }))).values()];
    assert.deepEqual(
      returned.map(({ elementType, dims }) => [elementType, dims]),
      [
        ['int64', [1]],
        ['string', [3000]],
      ],
    );
  });

  test('of a model has the texts of all of its inputs, and of all of its outputs', () => {
    const input = [value('names', [64, 3], 'string'), value('name', [], 'string'), value('numbers', [64])];
    const nodes = [node('Abs', ['numbers'], ['y']), node('Identity', ['names'], ['same'])];
    const output = [value('y', [64]), value('same', [64, 3], 'string')];
    const ends = countEnds(parseModel(model({ input, node: nodes, output }), 'm'));
    assert.deepEqual(ends, { inputs: 3, outputs: 2, texts: 193, returned_texts: 192 });
  });

  test('has a signature that depends on its inputs, its outputs and whether they are joined', () => {
    const signature = (inputs: number, outputs: number, joined: boolean) =>
      emptyCall({ inputs, outputs }, { joined }).signature;
    assert.equal(signature(2, 3, true), signature(2, 3, true));
    const others = [signature(2, 3, true), signature(2, 3, false), signature(3, 3, true), signature(2, 4, true)];
    assert.equal(new Set(others).size, others.length);
  });
});

describe('the number of copies', () => {
  const bytes = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 2 ** 32 }));
  const roughMs = fc.double({ min: 0.002, max: 10_000, noNaN: true });

  test('is at least one and at most MAX_COPIES', () => {
    fc.assert(
      fc.property(bytes, roughMs, bytes, bytes, (weightBytes, ms, modelWeightBytes, cacheBytes) => {
        const copies = copiesFor(weightBytes, ms, { modelWeightBytes, cacheBytes });
        assert.ok(Number.isInteger(copies) && copies >= 1 && copies <= MAX_COPIES, `${copies}`);
      }),
    );
  });

  test('does not decrease if the model has more weights', () => {
    fc.assert(
      fc.property(bytes, roughMs, bytes, bytes, bytes, (weightBytes, ms, one, other, cacheBytes) => {
        const copiesIn = (modelWeightBytes: number) => copiesFor(weightBytes, ms, { modelWeightBytes, cacheBytes });
        assert.ok(copiesIn(Math.min(one, other)) <= copiesIn(Math.max(one, other)));
      }),
    );
  });

  test('is larger in a model whose other weights evict those of the brick from the cache', () => {
    const copiesIn = (modelWeightBytes: number) => copiesFor(4 * MIB, 3, { modelWeightBytes, cacheBytes: 32 * MIB });
    assert.equal(copiesIn(4 * MIB), 1);
    assert.ok(copiesIn(400 * MIB) > 1);
  });

  test('is one where weights do not matter and one run is long', () => {
    assert.equal(copiesFor(0, 10, { modelWeightBytes: 500 * MIB, cacheBytes: 32 * MIB }), 1);
    assert.equal(copiesFor(1000, 10, { modelWeightBytes: 500 * MIB, cacheBytes: 32 * MIB }), 1);
  });

  test('makes a short run longer', () => {
    assert.ok(copiesFor(0, 0.1, { modelWeightBytes: 0, cacheBytes: 32 * MIB }) >= 16);
  });

  // Copies of a brick without weights and with this rough time, for a run of at least 2 rough milliseconds.
  const cacheBytes = 32 * MIB;
  const ofLength = (roughMs: number): number => copiesFor(0, roughMs, { modelWeightBytes: 0, cacheBytes });

  test('is one of a few numbers, so that bricks share empty calls', () => {
    const counts = [...new Set(Array.from({ length: 200 }, (_, n) => ofLength(2 / (n + 1))))];
    assert.deepEqual(counts, [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48]);
  });

  test('makes no run longer than 120 ms', () => {
    const ofMany = (roughMs: number): number => {
      return copiesFor(10 * MIB, roughMs, { modelWeightBytes: 2 ** 40, cacheBytes: 2 ** 40 });
    };
    assert.deepEqual([ofMany(120 / 12), ofMany(120 / 12 + 0.01)], [12, 8]);
  });

  test('ignores weights whose reading takes at most a hundredth of the brick’s time', () => {
    // 10 MB are read in a millisecond.
    const ofWeights = (bytes: number): number => copiesFor(bytes, 2, { modelWeightBytes: 2 ** 40, cacheBytes });
    assert.equal(ofWeights(2e5), 1);
    assert.ok(ofWeights(2.1e5) > 1);
  });

  test('makes the weights fill one and a half caches, or six if the brick reads little but weights', () => {
    const model = { modelWeightBytes: 2 ** 40, cacheBytes };
    // 48 MiB in bricks of 8 MiB that read for a quarter of their time; 192 MiB in bricks of 64 MiB that only read.
    assert.equal(copiesFor(8 * MIB, (8 * MIB) / 1e7 / 0.25, model), 6);
    assert.equal(copiesFor(12 * MIB, (12 * MIB) / 1e7 / 0.25, model), 4);
    assert.equal(copiesFor(64 * MIB, (64 * MIB) / 1e7, model), 3);
    assert.equal(copiesFor(63 * MIB, (63 * MIB) / 1e7, model), 4);
  });

  test('assumes 32 MiB for a cache of unknown size', () => {
    for (const bytes of [1, 2, 3.91, 5, 8, 20].map((size) => size * MIB)) {
      const copiesIn = (size: number): number => copiesFor(bytes, 4, { modelWeightBytes: 2 ** 40, cacheBytes: size });
      assert.equal(copiesIn(0), copiesIn(32 * MIB));
    }
  });

  test('is one if the brick alone takes longer than a run should', () => {
    assert.equal(copiesFor(40 * MIB, 200, { modelWeightBytes: 500 * MIB, cacheBytes: 512 * MIB }), 1);
    assert.equal(copiesFor(100 * MIB, 200, { modelWeightBytes: 500 * MIB, cacheBytes: 32 * MIB }), 1);
  });
});
