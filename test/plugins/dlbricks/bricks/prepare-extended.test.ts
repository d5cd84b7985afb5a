import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CutSettings, SHORTEN } from '../../../../plugins/dlbricks/bricks/decompose.js';
import { describeShortening, bytesNote, nodesNote } from '../../../../plugins/dlbricks/bricks/prepare-extended.js';
import { prepareModel, type PreparedModel } from '../../../../plugins/dlbricks/bricks/prepare-model.js';
import { countBricks } from '../../../../plugins/dlbricks/bricks/recipe.js';
import type { BenchmarkAgent } from '../../../../src/agent/benchmark-agent.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import type { Benchmark } from '../../../../src/measurement/benchmark.js';
import { modelFromBenchmark, weightlessBenchmark } from '../../../../src/measurement/weightless.js';
import { type LoadedModel, loadModel } from '../../../../src/registry/load-model.js';
import { agentForSuite } from '../../../agent/support/running-agent.js';
import { SYSTEM, LIMITS } from '../../../store/sample-measurement.js';
import { chainModel, loadedChain } from '../support/chain-model.js';
import { GraphBuilder } from '../support/graph-builder.js';
import { smallDecoder } from '../support/small-decoder.js';

/** Otherwise these small models would be cut into longer bricks. */
const SETTINGS: CutSettings = { cut: 'kernel', granularity: 1, runOptions: SYSTEM.runOptions };

function prepared(loaded: LoadedModel, agent: BenchmarkAgent, shorten: 'always' | 'never'): Promise<PreparedModel> {
  return prepareModel(loaded, { ...SETTINGS, shorten }, agent, new AbortController().signal);
}

/** How often each brick occurs. */
function countsBySignature({ recipe }: PreparedModel): ReadonlyMap<string, number> {
  const counts = countBricks(recipe);
  return new Map(recipe.bricks.map(({ signature }, index) => [signature, counts[index] ?? 0] as const).toSorted());
}

/** The fields of a recipe other than its bricks and their order. */
function aroundBricks({ recipe: { name, layers, call, handing_over: handed, footprint_bytes: bytes } }: PreparedModel) {
  return { name, layers, call, handed, bytes };
}

describe('a model that is optimized only with two and with three blocks', { timeout: 300_000 }, () => {
  const agent = agentForSuite();

  for (const [phase, precision] of [
    ['prefill', 'float32'],
    ['decode', 'float32'],
    ['prefill', 'int4'],
    ['decode', 'int4'],
  ] as const) {
    test(`has the bricks of the whole model, with the same counts, in the real runtime: ${phase}, ${precision}`, async () => {
      const loaded = smallDecoder(phase, 6, precision);
      const extended = await prepared(loaded, agent().client, 'always');
      const whole = await prepared(loaded, agent().client, 'never');
      assert.deepEqual(
        extended.extension?.kind === 'extended' ? extended.extension.blocks.count : extended.extension,
        6,
      );
      assert.equal(whole.extension, undefined);
      assert.deepEqual(countsBySignature(extended), countsBySignature(whole));
      assert.deepEqual(aroundBricks(extended), aroundBricks(whole));
      const { edges } = extended.recipe;
      assert.equal(edges.length, whole.recipe.edges.length);
      assert.ok(edges.every(([from, to]) => from < to && to < extended.recipe.sequences.length));
    });
  }
});

describe('shortening', () => {
  test('is given up if the third block has no kernels like the second, and the whole model is optimized', async () => {
    const asked: number[] = [];
    const optimizedOf = (benchmark: Benchmark) => {
      const blocks = modelFromBenchmark(benchmark, 'x').graph.nodes.filter(({ opType }) => opType === 'Softmax').length;
      asked.push(blocks);
      const made = blocks === 3 ? weightlessBenchmark(chainModel('Relu')) : benchmark;
      return { benchmark: made, values: new Map(), costMs: 1 };
    };
    const agent = createFakeAgent({ latencyOf: () => 1, optimizedOf });
    const { extension, recipe } = await prepared(smallDecoder('prefill', 5), agent, 'always');
    assert.deepEqual(asked, [2, 3, 5]);
    assert.ok(extension?.kind === 'whole' && /adds no kernels/.test(extension.reason));
    assert.equal(recipe.layers, recipe.sequences.length);
  });

  test('is given up for a small model of short kernels, whose bricks may span blocks', async () => {
    const optimizedOf = (benchmark: Benchmark) => ({ benchmark, values: new Map(), costMs: 1 });
    const agent = createFakeAgent({ latencyOf: () => 1, optimizedOf });
    const short = { ...SETTINGS, granularity: undefined, shorten: 'always' } as const;
    const { extension } = await prepareModel(smallDecoder('prefill', 5), short, agent, new AbortController().signal);
    assert.ok(extension?.kind === 'whole' && /kernels are short/.test(extension.reason));
  });

  test('is by default for large models, not for small ones', () => {
    assert.equal(describeShortening(smallDecoder('prefill', 6), SETTINGS), undefined);
    assert.equal(describeShortening(smallDecoder('prefill', 6), { ...SETTINGS, shorten: 'always' })?.blocks.count, 6);
    assert.equal(
      describeShortening(smallDecoder('prefill', 6), { ...SETTINGS, cut: 'layer', shorten: 'always' }),
      undefined,
    );
  });

  test('is by default also for a model with twelve blocks that are most of its graph, unless it has its own weights', () => {
    const twelve = smallDecoder('prefill', 12);
    assert.equal(describeShortening(twelve, SETTINGS)?.blocks.count, 12);
    const spared = SHORTEN.filter((shorten) => describeShortening(twelve, { ...SETTINGS, shorten }) === undefined);
    assert.deepEqual(spared, ['large', 'never']);
    assert.equal(describeShortening(twelve, { ...SETTINGS, values: 'run' }), undefined);
    const weights = { path: 'decoder.onnx', identity: () => Promise.resolve('') };
    assert.equal(describeShortening({ ...twelve, weights }, SETTINGS), undefined);
  });

  for (const [name, why] of [
    ['gpt2', 'whose table of words would be in both graphs'],
    ['resnet101', 'whose blocks are a part of it only'],
  ] as const) {
    test(`is not by default for ${name}, ${why}`, async () => {
      const loaded = await loadModel(`zoo:${name}`, { batch: 1 });
      assert.equal(describeShortening(loaded, SETTINGS), undefined);
      assert.ok((describeShortening(loaded, { ...SETTINGS, shorten: 'always' })?.blocks.count ?? 0) >= 8);
    });
  }

  for (const phase of ['prefill', 'decode']) {
    test(`reduces the 32 GB of the decoder of 8 billion parameters to a fifth (${phase}), and a note says so`, async () => {
      const loaded = await loadModel(`zoo:llama_8b_${phase}`, { batch: 1 });
      const { blocks, wholeBytes, shortenedBytes } = describeShortening(loaded, SETTINGS) ?? assert.fail();
      // 32 layers, 8,030,261,248 parameters of 4 bytes: a published count, see llama.ts. Shapes and indices add a little.
      assert.equal(blocks.count, 32);
      assert.ok(wholeBytes >= 4 * 8_030_261_248 && wholeBytes < 4 * 8_030_261_248 * 1.00001);
      assert.ok(shortenedBytes < wholeBytes / 4);
      const building = { ...SETTINGS, limits: { ...LIMITS, memoryLimitBytes: 8e9 }, measureEndToEnd: true };
      const note = bytesNote(loaded, building) ?? '';
      assert.match(
        note,
        /^llama_8b_\w+: 32\.12 GB of weights; 32 repeated blocks of \d+ layers: graphs with at most 6\.8\d GB/,
      );
      assert.match(
        note,
        /largest weight has 2\.10 GB; the limit of a measurement is 8\.00 GB; the whole model exceeds it/,
      );
    });
  }
});

describe('before a graph is optimized', () => {
  const operators = (count: number): string[] => Array.from({ length: count }, (_, at) => `Operator${at}`);

  test('a note says that it has so many nodes that this takes long', () => {
    const many = loadedChain('many', ...operators(10_000));
    assert.match(
      nodesNote(many, SETTINGS) ?? '',
      /^many: a graph of 10000 nodes is optimized, which may take minutes$/,
    );
    assert.equal(nodesNote(loadedChain('fewer', ...operators(9_999)), SETTINGS), undefined);
    assert.equal(nodesNote(many, { ...SETTINGS, cut: 'layer' }), undefined);
  });

  test('only the nodes of the shortened graphs count', () => {
    const blocks = Array.from({ length: 20 }, () => operators(1000)).flat();
    const [whole, shortened] = (['never', 'always'] as const).map((shorten) => {
      return nodesNote(loadedChain('blocks', ...blocks), { ...SETTINGS, shorten });
    });
    assert.match(whole ?? '', /20000 nodes/);
    assert.equal(shortened, undefined);
  });

  test('the note of a large model is made for any number of weights', () => {
    const g = new GraphBuilder();
    const fill = { low: 0, high: 1, seed: 0 };
    const sizes = Array.from({ length: 150_000 }, (_, at) => 4096 + (at % 2));
    for (const size of sizes) g.constant({ elementType: 'float32', dims: [size], data: { kind: 'fill', fill } });
    const model = g.model([g.layer('Relu', [g.input('float32', [1])], [1])]);
    const building = { ...SETTINGS, limits: LIMITS, measureEndToEnd: false };
    assert.match(bytesNote({ ...loadedChain('weights'), model }, building) ?? '', /^weights: 2\.46 GB of weights;/);
  });
});
