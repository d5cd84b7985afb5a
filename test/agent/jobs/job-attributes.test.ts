import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobAttributes } from '../../../src/agent/jobs/job-attributes.js';
import { relu, runOptions } from '../support/tiny-benchmarks.js';

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
