import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { benchmarkSchema, setupSchema } from '../../../src/agent/wire/request-schema.js';

const SEED = { low: 0, high: 1, seed: 0 };
const INPUT = { name: 'x', role: 'activation', elementType: 'float32', dims: [], fill: SEED };
const BENCHMARK = { signature: '0'.repeat(64), model: Uint8Array.of(1), inputs: [INPUT] };
const PROTOCOL = { warmupRuns: 0, runs: 1, minRuns: 1, timeBudgetMs: 0.1 };
const SETUP = { protocol: PROTOCOL, occasion: 1, limits: { timeLimitMs: 0.1, memoryLimitBytes: 1 } };

const input = (change: object): unknown => ({ ...BENCHMARK, inputs: [{ ...INPUT, ...change }] });
const fill = (change: object): unknown => input({ fill: { ...SEED, ...change } });
const named = (count: number) => Array.from({ length: count }, (_, index) => ({ ...INPUT, name: `${index}` }));
const sized = (bytes: number): unknown => input({ elementType: 'int8', dims: [bytes] });

/** For each limit, what just keeps it and what just breaks it. */
const OF_BENCHMARKS: readonly (readonly [limit: string, kept: unknown, broken: unknown])[] = [
  ['a seed from zero', fill({ seed: 0 }), fill({ seed: -1 })],
  ['a list with a value', fill({ list: [0] }), fill({ list: [] })],
  ['a list within the range', fill({ list: [0, 1] }), fill({ list: [0, 1.1] })],
  ['a list not below the range', fill({ list: [0, 1] }), fill({ list: [1, -0.1] })],
  ['a range that is not empty', fill({ low: 1 }), fill({ low: 1.1 })],
  ['a size from zero', input({ dims: [0] }), input({ dims: [-1] })],
  ['whole sizes', input({ dims: [1] }), input({ dims: [1.5] })],
  ['at most 64 sizes', input({ dims: Array(64).fill(1) }), input({ dims: Array(65).fill(1) })],
  ['at most 16 TiB', sized(2 ** 44), sized(2 ** 44 + 1)],
  ['at most 16 TiB together', input({ dims: [2 ** 42] }), input({ dims: [2 ** 42 + 1] })],
  ['a name', input({ name: 'x' }), input({ name: '' })],
  ['a name of at most 4096 characters', input({ name: 'x'.repeat(4096) }), input({ name: 'x'.repeat(4097) })],
  ['at most 100,000 inputs', { ...BENCHMARK, inputs: named(100_000) }, { ...BENCHMARK, inputs: named(100_001) }],
  ['names that differ', { ...BENCHMARK, inputs: named(2) }, { ...BENCHMARK, inputs: [INPUT, INPUT] }],
  ['64 digits', BENCHMARK, { ...BENCHMARK, signature: '0'.repeat(65) }],
  ['hexadecimal digits', BENCHMARK, { ...BENCHMARK, signature: 'g'.repeat(64) }],
  ['a model', BENCHMARK, { ...BENCHMARK, model: new Uint8Array() }],
  [
    'a path of at most 4096 characters',
    { ...BENCHMARK, weights: 'x'.repeat(4096) },
    { ...BENCHMARK, weights: 'x'.repeat(4097) },
  ],
];

const protocol = (change: object): unknown => ({ ...SETUP, protocol: { ...PROTOCOL, ...change } });

const OF_SETUPS: typeof OF_BENCHMARKS = [
  ['an occasion from one', SETUP, { ...SETUP, occasion: 0 }],
  ['a run', SETUP, protocol({ runs: 0 })],
  ['at most a million runs', protocol({ runs: 1e6 }), protocol({ runs: 1e6 + 1 })],
  ['at most 100,000 warm-up runs', protocol({ warmupRuns: 1e5 }), protocol({ warmupRuns: 1e5 + 1 })],
  ['no negative number of warm-up runs', protocol({ warmupRuns: 0 }), protocol({ warmupRuns: -1 })],
  ['a time budget of at most a day', protocol({ timeBudgetMs: 86_400_000 }), protocol({ timeBudgetMs: 86_400_001 })],
];

describe('a request has', () => {
  for (const [limit, kept, broken] of OF_BENCHMARKS) {
    test(limit, () => {
      assert.equal(benchmarkSchema.safeParse(kept).error, undefined);
      assert.equal(benchmarkSchema.safeParse(broken).success, false);
    });
  }

  for (const [limit, kept, broken] of OF_SETUPS) {
    test(limit, () => {
      assert.equal(setupSchema.safeParse(kept).error, undefined);
      assert.equal(setupSchema.safeParse(broken).success, false);
    });
  }
});
