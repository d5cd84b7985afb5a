import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  fromWireOpen,
  MAX_SAMPLES,
  MAX_SIZES,
  type ServeRequest,
  toWireOpen,
} from '../../../src/agent/wire/load-wire.js';
import { OpenModel } from '../../../src/generated/mlmodelscope/load/v1/load.js';
import { matMul, relu, runOptions } from '../support/tiny-benchmarks.js';
import { sent } from '../support/sent.js';

const request: ServeRequest = {
  name: 'tiny',
  models: new Map([
    [1, relu],
    [8, matMul],
  ]),
  runOptions,
  batching: { limit: 8, waitMs: 1.5 },
  warmupRuns: 3,
  limits: { timeLimitMs: 1000, memoryLimitBytes: 2 ** 30 },
};

test('a request to serve arrives as it was sent', () => {
  assert.deepEqual(fromWireOpen(sent(OpenModel, toWireOpen(request)), 1), request);
});

test('a request to serve without a memory limit has the default limit', () => {
  const { limits } = fromWireOpen({ ...toWireOpen(request), memoryLimitBytes: 0n }, 7e9);
  assert.equal(limits.memoryLimitBytes, 7e9);
});

test('a request to serve no sizes of runs, or too many, is refused', () => {
  const of = (sizes: number): ServeRequest => {
    return { ...request, models: new Map(Array.from({ length: sizes }, (_, size) => [size + 1, relu])) };
  };
  assert.equal(fromWireOpen(toWireOpen(of(MAX_SIZES)), 1).models.size, MAX_SIZES);
  for (const sizes of [0, MAX_SIZES + 1]) {
    assert.throws(() => fromWireOpen(toWireOpen(of(sizes)), 1), { code: 'usage', message: /1 to 64 sizes of runs/ });
  }
});

test('a request to serve with a long name or large batches is refused', () => {
  const arrives = (changes: Partial<ServeRequest>): ServeRequest =>
    fromWireOpen(toWireOpen({ ...request, ...changes }), 1);
  const largest = { name: 'x'.repeat(1000), batching: { limit: MAX_SAMPLES, waitMs: 60_000 } };
  assert.equal(arrives(largest).batching.limit, MAX_SAMPLES);
  const smallest = { limit: 1, waitMs: 0 };
  assert.deepEqual(arrives({ batching: smallest }).batching, smallest);
  assert.throws(() => arrives({ name: 'x'.repeat(1001) }), { code: 'usage', message: /name/ });
  for (const batching of [
    { limit: MAX_SAMPLES + 1, waitMs: 0 },
    { limit: 0, waitMs: 0 },
    { limit: 1, waitMs: 60_001 },
  ]) {
    assert.throws(() => arrives({ batching }), { code: 'usage', message: /batching/ });
  }
  for (const warmupRuns of [0, 1000]) assert.equal(arrives({ warmupRuns }).warmupRuns, warmupRuns);
  assert.throws(() => arrives({ warmupRuns: 1001 }), { code: 'usage', message: /warmupRuns/ });
});
