import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CutSettings, decompose, graphToCut } from '../../../../plugins/dlbricks/bricks/decompose.js';
import { kernelDifferences } from '../../../../plugins/dlbricks/bricks/own-graph.js';
import { prepareOrRefuse } from '../../../../plugins/dlbricks/bricks/prepare-model.js';
import type { OptimizedGraph } from '../../../../src/agent/benchmark-agent.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import { PlatformError } from '../../../../src/base/errors.js';
import type { Benchmark } from '../../../../src/measurement/benchmark.js';
import { modelFromBenchmark, weightlessBenchmark } from '../../../../src/measurement/weightless.js';
import { SYSTEM } from '../../../store/sample-measurement.js';
import { chainModel, loadedChain } from '../support/chain-model.js';
import { float32Bytes, GraphBuilder } from '../support/graph-builder.js';
import { assertRefused } from '../../../rpc/support/refusal.js';

const SETTINGS: CutSettings = { cut: 'kernel', granularity: undefined, runOptions: SYSTEM.runOptions };

function preparing(optimizedOf: () => never) {
  const agent = createFakeAgent({ latencyOf: () => 1, optimizedOf });
  return prepareOrRefuse(loadedChain('model', 'Relu', 'Neg'), SETTINGS, agent, new AbortController().signal);
}

test('a typed model is cut at its layers without a runtime', async () => {
  const agent = createFakeAgent({ latencyOf: () => 1 });
  const loaded = loadedChain('model', 'Relu', 'Neg', 'Relu');
  const settings: CutSettings = { ...SETTINGS, cut: 'layer' };
  const { recipe, bricks, refusal, whole, toCheck, inputs } = await prepareOrRefuse(
    loaded,
    settings,
    agent,
    new AbortController().signal,
  );
  assert.deepEqual([recipe.sequences, bricks.length, refusal], [[0, 1, 0], 2, undefined]);
  assert.deepEqual(whole, weightlessBenchmark(loaded.model));
  assert.equal(toCheck, 'bricks of the layer cut are no kernels');
  const { assumed, sizes, tokens } = loaded;
  assert.deepEqual(inputs, { assumed, sizes, tokens });
});

test('the graph from the runtime is returned, so that its kernels can be compared with those of the file', async () => {
  const made = weightlessBenchmark(loadedChain('made', 'Relu').model);
  const optimizedOf = (): OptimizedGraph => ({ benchmark: made, values: new Map(), costMs: 5 });
  const agent = createFakeAgent({ latencyOf: () => 1, optimizedOf });
  const loaded = loadedChain('model', 'Relu', 'Neg');
  const { optimized } = await graphToCut(loaded, SETTINGS, agent, new AbortController().signal);
  assert.deepEqual(optimized, modelFromBenchmark(made, `${loaded.model.source}, optimized`));
});

test('a model is encoded once for its measurement and for the runtime that optimizes it', async () => {
  const optimized: Benchmark[] = [];
  const optimizedOf = (benchmark: Benchmark): OptimizedGraph => {
    optimized.push(benchmark);
    return { benchmark, values: new Map(), costMs: 5 };
  };
  const agent = createFakeAgent({ latencyOf: () => 1, optimizedOf });
  const loaded = loadedChain('model', 'Relu', 'Neg');
  const { whole } = await prepareOrRefuse(loaded, SETTINGS, agent, new AbortController().signal);
  assert.equal(optimized.length, 1);
  assert.ok(optimized[0]?.model === whole.model);
});

describe('a model of many short kernels', () => {
  const loaded = loadedChain('short', ...Array.from({ length: 20 }, () => 'Relu'));
  const prepared = async (settings: Partial<CutSettings>): Promise<number> => {
    const optimizedOf = (benchmark: Benchmark): OptimizedGraph => ({ benchmark, values: new Map(), costMs: 1 });
    const agent = createFakeAgent({ latencyOf: () => 1, optimizedOf });
    const { recipe } = await prepareOrRefuse(loaded, { ...SETTINGS, ...settings }, agent, new AbortController().signal);
    return recipe.sequences.length;
  };

  test('is cut into longer bricks at the kernel cut, unless a length is asked for', async () => {
    assert.equal(await prepared({}), 1);
    assert.equal(await prepared({ granularity: 1 }), 20);
    assert.equal(await prepared({ granularity: 5 }), 4);
    assert.equal(await prepared({ cut: 'layer' }), 20);
  });
});

describe('a model whose graph the runtime refuses', () => {
  test('has its layers and the reason, and no bricks', async () => {
    const { recipe, bricks, refusal, inputs } = await preparing(() => {
      throw new PlatformError('unsupported', 'no kernel for Neg');
    });
    assert.deepEqual(recipe, { name: 'model', layers: 2, bricks: [], sequences: [], edges: [] });
    assert.deepEqual([bricks, refusal], [[], 'no kernel for Neg']);
    assert.deepEqual(inputs, { assumed: [], sizes: [] });
  });

  test('is optimized once if it has no weights of its own', async () => {
    let tries = 0;
    const { refusal } = await preparing(() => {
      tries++;
      throw new PlatformError('model', 'Neg has no such input');
    });
    assert.deepEqual([refusal, tries], ['Neg has no such input', 1]);
  });

  test('is not assumed if the agent does not answer', async () => {
    const asked = preparing(() => {
      throw new PlatformError('unavailable', 'the agent does not answer');
    });
    await assertRefused(asked, 'unavailable');
  });
});

test('bricks are measured together if the runtime keeps a profile, and else as copies', async () => {
  const optimizedOf = (benchmark: Benchmark): OptimizedGraph => ({ benchmark, values: new Map(), costMs: 5 });
  for (const measuresTogether of [true, false]) {
    const agent = createFakeAgent({ latencyOf: () => 1, measuresTogether, optimizedOf });
    const loaded = loadedChain('model', 'Relu');
    const { recipe } = await prepareOrRefuse(loaded, SETTINGS, agent, new AbortController().signal);
    assert.deepEqual(
      recipe.bricks.map(({ context }) => context === undefined),
      [measuresTogether],
    );
    assert.equal(recipe.footprint_bytes !== undefined, measuresTogether);
  }
});

test('bricks that are measured as copies are as cold as the weights of their model, or of a larger one, make them', async () => {
  const g = new GraphBuilder();
  const weights = [g.weight([1024, 1024], 2 ** 20), g.weight([1024, 1024], 2 ** 20)] as const;
  let x = g.input('float32', [1, 1024]);
  for (const weight of weights) x = g.layer('MatMul', [x, weight], [1, 1024]);
  const model = g.model([x]);
  const optimizedOf = (): OptimizedGraph => ({ benchmark: weightlessBenchmark(model), values: new Map(), costMs: 5 });
  const agent = createFakeAgent({ latencyOf: () => 1, measuresTogether: false, optimizedOf });
  const loaded = { ...loadedChain('model'), model };
  const copiesIn = async (surroundingBytes?: number): Promise<number> => {
    const { signal } = new AbortController();
    const { decomposed } = await decompose(loaded, SETTINGS, agent, signal, { surroundingBytes });
    return decomposed.bricks[0]?.copies?.copies ?? assert.fail();
  };
  const own = await copiesIn();
  assert.equal(own, await copiesIn(2 * 1024 * 1024 * 4));
  assert.ok((await copiesIn(2 ** 28)) > own);
});

describe('a layer whose output is as large as values say', () => {
  const g = new GraphBuilder();
  const x = g.layer('Relu', [g.input('float32', [4])], [4]);
  const [places = ''] = g.layers('NonZero', [x], [{ elementType: 'int64', dims: [1, 4] }]);
  const model = g.model([g.layer('Cast', [places], [1, 4]), g.layer('Neg', [x], [4])]);
  const numbers = { elementType: 'float32', dims: [4], content: float32Bytes([0, 1, 0, 2]) } as const;
  const agent = createFakeAgent({ latencyOf: () => 1, inferredValuesOf: () => new Map([[x, numbers]]) });
  const decomposed = async (values: CutSettings['values']) => {
    const settings: CutSettings = { ...SETTINGS, cut: 'layer', values };
    const loaded = { ...loadedChain('model'), model };
    return (await decompose(loaded, settings, agent, new AbortController().signal)).decomposed;
  };

  test('is named in the recipe with the sequences that depend on made-up values', async () => {
    const { recipe } = await decomposed('made-up');
    const operators = [{ operator: 'NonZero', count: 1 }];
    assert.deepEqual(recipe.made_up_values, { operators, kernels: 2, sequences: [1, 2] });
  });

  test('has these values in its brick if they are those of a run', async () => {
    const { recipe, bricks } = await decomposed('run');
    assert.equal(recipe.made_up_values, undefined);
    const brick = bricks.find(({ operators }) => operators.includes('NonZero'));
    assert.deepEqual(
      brick?.inputs.map(({ fill }) => fill.list),
      [[0, 1, 0, 2]],
    );
  });
});

test('a layer that reads the places of made-up truth values is named in the recipe', async () => {
  const g = new GraphBuilder();
  const chosen = g.constant({
    elementType: 'bool',
    dims: [2000],
    data: { kind: 'inline', bytes: new Uint8Array(2000) },
  });
  const type = { elementType: 'int64', dims: [1, 2000] } as const;
  const [places = ''] = g.layers('NonZero', [chosen], [type]);
  const some = g.layer('Gather', [g.input('float32', [2000]), places], [1, 2000]);
  const loaded = { ...loadedChain('model'), model: g.model([some]) };
  const agent = createFakeAgent({ latencyOf: () => 1, inferredValuesOf: () => new Map([[places, type]]) });
  const { decomposed } = await decompose(loaded, { ...SETTINGS, cut: 'layer' }, agent, new AbortController().signal);
  const operators = [{ operator: 'Gather', count: 1 }];
  assert.deepEqual(decomposed.recipe.made_up_values, { operators, kernels: 1, sequences: [0] });
});

test('kernels that a file and a graph with made-up weights do not have equally often are counted', () => {
  assert.deepEqual(kernelDifferences(chainModel('Relu', 'Neg', 'Exp'), chainModel('Relu', 'Relu', 'Exp', 'Abs')), [
    { operator: 'Relu', ofFile: 1, madeUp: 2 },
    { operator: 'Neg', ofFile: 1, madeUp: 0 },
    { operator: 'Abs', ofFile: 0, madeUp: 1 },
  ]);
});
