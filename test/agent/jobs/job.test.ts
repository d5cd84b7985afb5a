import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTimed, occasionOf, threadsOf, type WorkerJob } from '../../../src/agent/jobs/job.js';
import type { PredictionModel } from '../../../src/registry/prediction-model.js';
import { protocol, relu, runOptions } from '../support/tiny-benchmarks.js';

const limits = { memoryLimitBytes: 2 ** 30, timeLimitMs: 1000 };
const options = { runOptions: { ...runOptions, threads: 3 }, protocol, occasion: 2, limits };
const graph = { benchmark: relu, memoryLimitBytes: 1 };
const serving = {
  models: new Map(),
  name: 'tiny',
  batching: { limit: 1, waitMs: 0 },
  warmupRuns: 1,
  memoryLimitBytes: 1,
};
const bricks = { bricks: [relu], paddingBytes: 0, repetition: { times: 1, weightSets: 1 } };

const TIMED: readonly WorkerJob[] = [
  { kind: 'measure', benchmark: relu, ...options },
  { kind: 'measure-bricks', ...bricks, ...options },
  { kind: 'trace', benchmark: relu, ...options },
  { kind: 'serve', ...serving, runOptions: options.runOptions },
];
const OTHERS: readonly WorkerJob[] = [
  { kind: 'infer-types', ...graph },
  { kind: 'optimize', ...graph, runOptions: options.runOptions },
  { kind: 'run-once', ...graph, runOptions: options.runOptions, everyValue: false, elements: 0 },
  { kind: 'open', model: { path: 'm.onnx' } as PredictionModel, runOptions: options.runOptions },
  { kind: 'predict', batch: { input: { kind: 'made-up', first: 0, count: 1 }, featureLimit: 0 } },
];

test('jobs whose result is a time take their turn on the machine, and others do not', () => {
  assert.deepEqual(TIMED.map(isTimed), [true, true, true, true]);
  assert.deepEqual(OTHERS.map(isTimed), [false, false, false, false, false]);
});

test('a job takes the threads of its run options, and one without the run of an optimized graph takes one', () => {
  assert.deepEqual(TIMED.map(threadsOf), [3, 3, 3, 3]);
  assert.deepEqual(OTHERS.map(threadsOf), [1, 1, 3, 3, 1]);
});

test('only measurements for the store have an occasion', () => {
  assert.deepEqual([...TIMED, ...OTHERS].map(occasionOf), [2, 2, ...Array<undefined>(7).fill(undefined)]);
});
