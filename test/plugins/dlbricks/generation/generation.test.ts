import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runEstimation } from '../../../../plugins/dlbricks/estimation.js';
import {
  cacheLengths,
  sampledLengths,
  sumOverSteps,
  withDecoders,
} from '../../../../plugins/dlbricks/generation/generation.js';
import { settingsSchema } from '../../../../plugins/dlbricks/settings.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import type { Benchmark } from '../../../../src/measurement/benchmark.js';
import type { LoadedModel } from '../../../../src/registry/load-model.js';
import { openMemoryStore } from '../../../../src/store/memory/open.js';
import { LIMITS, PROTOCOL } from '../../../store/sample-measurement.js';
import { loadedChain } from '../support/chain-model.js';
import { assertRefused } from '../../../rpc/support/refusal.js';
import { smallDecoder } from '../support/small-decoder.js';

const MODELS = [smallDecoder('prefill', 1), smallDecoder('decode', 1)];

function sizeOf({ model }: LoadedModel, input: string, at: number) {
  return model.graph.types.get(input)?.dims?.[at];
}

describe('the steps of a generation', () => {
  test('read a cache that grows by a token each; the first token comes with the prompt', () => {
    assert.deepEqual(cacheLengths({ prompt: 10, tokens: 4 }), [10, 11, 12]);
    assert.deepEqual(cacheLengths({ prompt: 10, tokens: 1 }), []);
  });

  test('are estimated at a handful of lengths, the first and the last among them', () => {
    assert.deepEqual(sampledLengths({ prompt: 10, tokens: 4 }), [10, 11, 12]);
    assert.deepEqual(sampledLengths({ prompt: 100, tokens: 1002 }), [100, 350, 600, 850, 1100]);
  });

  test('are summed by linear interpolation between the estimates', () => {
    const generation = { prompt: 3, tokens: 10 };
    const lengths = cacheLengths(generation);
    const latency = (length: number): number => (length < 7 ? 2 * length : 14 + 5 * (length - 7));
    const samples = [3, 7, 11].map((length) => [length, latency(length)] as const);
    assert.equal(
      sumOverSteps(samples, generation),
      lengths.reduce((sum, length) => sum + latency(length), 0),
    );
    assert.equal(sumOverSteps([[5, 4]], { prompt: 5, tokens: 2 }), 4);
  });
});

describe('the models of a generation', () => {
  test('are the prompt, and a step at each length; others stay', () => {
    const other = loadedChain('other', 'Relu');
    const { models, decoders } = withDecoders([other, ...MODELS], { prompt: 9, tokens: 3 }, 1);
    assert.deepEqual(decoders, [
      {
        name: 'small',
        prefill: 'small_prefill (sequence 9)',
        steps: [
          { length: 9, model: 'small_decode (past 9)' },
          { length: 10, model: 'small_decode (past 10)' },
        ],
      },
    ]);
    const [first, prefill, ...steps] = models;
    assert.ok(first === other && prefill !== undefined);
    assert.equal(sizeOf(prefill, 'input_ids', 1), 9);
    assert.deepEqual(
      steps.map((step) => [sizeOf(step, 'past_key_0', 2), sizeOf(step, 'attention_mask', 1)]),
      [
        [9, 10],
        [10, 11],
      ],
    );
  });

  test('must be two of one name', async () => {
    const asked = Promise.resolve().then(() => withDecoders([loadedChain('x', 'Relu')], { prompt: 1, tokens: 1 }, 1));
    await assertRefused(asked, 'manifest', /expected two models whose names differ only in _prefill and _decode/);
  });
});

test('an evaluation reports the times of the first token and of all further tokens, with consistent intervals', async () => {
  const optimizedOf = (benchmark: Benchmark) => ({ benchmark, values: new Map(), costMs: 0 });
  const agent = createFakeAgent({ latencyOf: () => 2, optimizedOf });
  const settings = settingsSchema.parse({ generation: { prompt: 8, tokens: 12 }, granularity: 1 });
  const estimation = {
    models: MODELS,
    settings,
    threads: 1,
    batch: 1,
    protocol: PROTOCOL,
    limits: LIMITS,
    startMs: performance.now(),
  };
  const signal = new AbortController().signal;
  const { report } = await runEstimation(estimation, {
    agent,
    store: await openMemoryStore(),
    signal,
    onEvent: () => {},
  });
  const [generation, ...others] = report.generations;
  assert.ok(generation !== undefined && others.length === 0);
  const [prefill, ...steps] = report.models;
  assert.deepEqual([generation.model, generation.prompt, generation.tokens], ['small', 8, 12]);
  assert.deepEqual(generation.cache_lengths, [8, 11, 13, 16, 18]);
  assert.equal(steps.length, 5);
  const sizeIn = (model: (typeof steps)[number], of: string) => model.dimensions.find(({ name }) => name === of)?.size;
  assert.equal(prefill && sizeIn(prefill, 'sequence'), 8);
  assert.deepEqual(
    steps.map((step) => sizeIn(step, 'past')),
    generation.cache_lengths,
  );
  assert.equal(generation.first_token_ms, prefill?.estimate_ms);
  // Every kernel takes 2 ms at any length, so that each of the eleven further tokens takes the same.
  const step = steps[0]?.estimate_ms ?? 0;
  assert.ok(step > 0 && Math.abs((generation.further_tokens_ms ?? 0) - 11 * step) < 1e-6);
  const { further_tokens_low_ms: low, further_tokens_ms: ms, further_tokens_high_ms: high } = generation;
  assert.ok(low !== null && ms !== null && high !== null && low <= ms && ms <= high);
  assert.equal(generation.further_tokens_measured_ms, null);
});
