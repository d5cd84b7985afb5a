import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobAttributes } from '../../../src/agent/jobs/job-attributes.js';
import { matMul, protocol, relu, runOptions } from '../support/tiny-benchmarks.js';

test('the span of each job on a graph has the signature of the graph', () => {
  const common = { benchmark: relu, memoryLimitBytes: 2 ** 30 };
  for (const job of [
    { kind: 'infer-types', ...common },
    { kind: 'optimize', ...common, runOptions },
    { kind: 'run-once', ...common, runOptions, everyValue: false, elements: 0 },
  ] as const) {
    assert.deepEqual(jobAttributes(job), { signature: relu.signature }, job.kind);
  }
});

test('the span of a measurement has the signatures of what it measures, and the name of a whole model', () => {
  const limits = { memoryLimitBytes: 2 ** 30, timeLimitMs: 1000 };
  const common = { runOptions, protocol, occasion: 0, limits };
  assert.deepEqual(jobAttributes({ kind: 'measure', benchmark: relu, name: 'tiny', ...common }), {
    model_name: 'tiny',
    signature: relu.signature,
  });
  assert.deepEqual(jobAttributes({ kind: 'measure', benchmark: relu, ...common }), { signature: relu.signature });
  const composite = { bricks: [relu, matMul], paddingBytes: 0, repetition: { times: 1, weightSets: 1 } };
  assert.deepEqual(jobAttributes({ kind: 'measure-bricks', ...composite, ...common }), {
    bricks: 2,
    signatures: [relu.signature, matMul.signature],
  });
});

test('the span of a load run says how queries are joined', () => {
  const batching = { limit: 4, waitMs: 2 };
  const models = new Map([[4, relu]]);
  const job = {
    kind: 'serve',
    name: 'tiny',
    models,
    runOptions,
    batching,
    warmupRuns: 1,
    memoryLimitBytes: 1,
  } as const;
  assert.deepEqual(jobAttributes(job), { model_name: 'tiny', batch_limit: 4, max_wait_ms: 2 });
});

test('the span of a prediction has nothing more', () => {
  const batch = { input: { kind: 'made-up', first: 0, count: 1 }, featureLimit: 0 } as const;
  assert.deepEqual(jobAttributes({ kind: 'predict', batch }), {});
});
