import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkMemory, openBenchmark } from '../../../src/agent/jobs/open-benchmark.js';
import { openProfiled } from '../../../src/agent/jobs/profiled-runs.js';
import type { ModelSource } from '../../../src/predictor/predictor.js';
import { withTemporaryFolder } from '../../onnx/temporary-folder.js';
import { fakeContext, fakePredictor } from '../support/fake-context.js';
import { benchmarkOf, matMul, runOptions } from '../support/tiny-benchmarks.js';

test('weights that a runtime does not take inline are in the temporary folder of the job', async () => {
  await withTemporaryFolder(async (temporaryFolder) => {
    const opened: ModelSource[] = [];
    const fake = fakePredictor({});
    const predictor: typeof fake = {
      ...fake,
      inlineLimitBytes: 0,
      open: (source, options) => {
        opened.push(source);
        return fake.open(source, options);
      },
      openProfiled: (source, options, folder) => {
        opened.push(source);
        return fake.openProfiled?.(source, options, folder) ?? assert.fail();
      },
    };
    const request = { benchmark: matMul, runOptions, memoryLimitBytes: 2 ** 30 };
    for (const open of [openBenchmark, openProfiled]) {
      await (await open(request, fakeContext({ predictor, temporaryFolder }))).close();
    }
    const source = { kind: 'file', path: join(temporaryFolder, 'weights', 'model.onnx') };
    assert.deepEqual(opened, [source, source]);
  });
});

test('a benchmark whose weights and inputs exceed the limit is refused with both sizes, and not just below', () => {
  const dims = [1e9, 1];
  const benchmark = benchmarkOf({
    inputs: { x: { dims, elementType: 'int8' }, w: { dims, elementType: 'int8', role: 'weight' } },
    nodes: [{ opType: 'Add', inputs: ['x', 'w'], outputs: ['y'] }],
    outputs: ['y'],
  });
  checkMemory({ benchmark, memoryLimitBytes: 2e9 });
  const message = /weights and inputs alone take 2\.0\d? GB, the limit for the worker process is 1\.9\d? GB/;
  assert.throws(() => checkMemory({ benchmark, memoryLimitBytes: 1.9e9 }), { code: 'unsupported', message });
});
