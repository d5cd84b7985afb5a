import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openBenchmark } from '../../../src/agent/jobs/open-benchmark.js';
import type { ModelSource } from '../../../src/predictor/predictor.js';
import { withTemporaryFolder } from '../../onnx/temporary-folder.js';
import { fakeContext, fakePredictor } from '../support/fake-context.js';
import { matMul, runOptions } from '../support/tiny-benchmarks.js';

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
    };
    const request = { benchmark: matMul, runOptions, memoryLimitBytes: 2 ** 30 };
    const open = await openBenchmark(request, fakeContext({ predictor, temporaryFolder }));
    await open.close();
    assert.deepEqual(opened, [{ kind: 'file', path: join(temporaryFolder, 'weights', 'model.onnx') }]);
  });
});
