import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { classifyFailure } from '../../../src/agent/failure.js';
import { encodeExternal } from '../../../src/predictor/encode-weights.js';
import { makeFeeds, materialize } from '../../../src/predictor/materialize.js';
import { openFilledModel } from '../../../src/predictor/open-filled-model.js';
import { onnxRuntimeWebPredictor } from '../../../src/predictor/onnxruntime-web/predictor.js';
import { benchmarkOf, int64Constant, relu, runOptions } from '../../agent/support/tiny-benchmarks.js';
import { withTemporaryFolder } from '../../onnx/temporary-folder.js';

const predictor = onnxRuntimeWebPredictor();
const asItIs = { ...runOptions, optimizationLevel: 'disabled' } as const;

/** A benchmark that repeats a row of 4 KiB until it takes this many GiB. */
function expanding(gibibytes: number) {
  return benchmarkOf({
    inputs: { x: { dims: [1024] } },
    nodes: [
      { opType: 'Expand', inputs: ['x', 'to'], outputs: ['large'] },
      { opType: 'Shape', inputs: ['large'], outputs: ['y'] },
    ],
    outputs: ['y'],
    constants: { to: int64Constant([3], [gibibytes, 2 ** 18, 1024]) },
  });
}

/** The failure of opening and running such a benchmark. */
async function failureOfRunning(gibibytes: number) {
  return withTemporaryFolder(async (temporaryFolder) => {
    const benchmark = expanding(gibibytes);
    const model = await openFilledModel(predictor, materialize(benchmark), asItIs, { temporaryFolder });
    const thrown: unknown = await model
      .prepare(makeFeeds(benchmark))
      .execute()
      .catch((error: unknown) => error);
    await model.close();
    return classifyFailure(thrown, 'run');
  });
}

describe('WebAssembly’s 4 GB', { timeout: 300_000 }, () => {
  test('are too few for a larger value, and the failure says so', async () => {
    const { reason, message } = await failureOfRunning(5);
    assert.equal(reason, 'out_of_memory', message);
  });

  test('are too few for larger weights, which are not even read', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mlmodelscope-test-'));
    try {
      const tiny = benchmarkOf({
        inputs: { x: { dims: [1, 8] }, w: { dims: [8, 5], role: 'weight' } },
        nodes: [{ opType: 'MatMul', inputs: ['x', 'w'], outputs: ['y'] }],
        outputs: ['y'],
      });
      const path = join(folder, 'model.onnx');
      writeFileSync(path, encodeExternal(materialize(tiny)).model);
      // A hole: it takes no space on the disk.
      writeFileSync(join(folder, 'weights.bin'), '');
      truncateSync(join(folder, 'weights.bin'), 5 * 2 ** 30);

      await assert.rejects(
        predictor.open({ kind: 'file', path }, runOptions),
        /out of memory: the weights take 5.37 GB/,
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('are free again after a failure', async () => {
    await withTemporaryFolder(async (temporaryFolder) => {
      const model = await openFilledModel(predictor, materialize(relu), runOptions, { temporaryFolder });
      assert.equal((await model.prepare(makeFeeds(relu)).evaluate()).size, 1);
      await model.close();
    });
  });
});
