import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withTemporaryFolder } from '../onnx/temporary-folder.js';

const PROCESS = fileURLToPath(new URL('./evaluate.process.js', import.meta.url));

const MODELS = ['squeezenet1.1', 'mobilenet_v2', 'resnet18', 'inception_v1', 'densenet121'] as const;

/** Each model has one output: a score for each class of ImageNet. */
const SCORES = 1000;

/** Rounding differs between two sets of kernels, in the last bits of float32, and adds up over a hundred layers. */
const TOLERANCE = 2e-4;

/** The scores of all models, in their order. */
async function outputsOf(framework: string): Promise<Float32Array<ArrayBuffer>> {
  return withTemporaryFolder(async (folder) => {
    const args = [PROCESS, framework, join(folder, 'weights'), ...MODELS];
    const { stdout } = await promisify(execFile)(process.execPath, args, { encoding: 'buffer' });
    return new Float32Array(new Uint8Array(stdout).buffer);
  });
}

describe('both frameworks compute the same', { timeout: 600_000 }, () => {
  let native = new Float32Array();
  let web = new Float32Array();

  before(async () => {
    [native, web] = await Promise.all([outputsOf('onnxruntime'), outputsOf('onnxruntime-web')]);
  });

  for (const [i, model] of MODELS.entries()) {
    test(model, () => {
      const scoresIn = (outputs: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> => {
        assert.equal(outputs.length, MODELS.length * SCORES);
        return outputs.subarray(i * SCORES, (i + 1) * SCORES);
      };
      const expected = scoresIn(native);
      const found = scoresIn(web);
      const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      assert.ok(largest > 0, 'nothing but zeros');
      const difference = found.reduce(
        (most, value, index) => Math.max(most, Math.abs(value - (expected[index] ?? NaN))),
        0,
      );
      assert.ok(difference <= TOLERANCE * largest, `${difference} of ${largest}`);
    });
  }
});
