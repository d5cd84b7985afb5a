import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withTemporaryFolder } from '../onnx/temporary-folder.js';

const PROCESS = fileURLToPath(new URL('./evaluate.process.js', import.meta.url));
const LARGEST_OUTPUT_BYTES = 2 ** 26;

/** Rounding differs between two sets of kernels, in the last bits of float32, and adds up over a hundred layers. */
const TOLERANCE = 2e-4;

async function outputsOf(framework: string, model: string): Promise<Float32Array> {
  return withTemporaryFolder(async (folder) => {
    const args = [PROCESS, framework, model, join(folder, 'weights')];
    const options = { encoding: 'buffer', maxBuffer: LARGEST_OUTPUT_BYTES } as const;
    const { stdout } = await promisify(execFile)(process.execPath, args, options);
    return new Float32Array(new Uint8Array(stdout).buffer);
  });
}

describe('both frameworks compute the same', { timeout: 240_000 }, () => {
  for (const model of ['squeezenet1.1', 'mobilenet_v2', 'resnet18', 'inception_v1', 'densenet121']) {
    test(model, async () => {
      const native = await outputsOf('onnxruntime', model);
      const web = await outputsOf('onnxruntime-web', model);

      assert.deepEqual([web.length, native.length], [1000, 1000]);
      const largest = native.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      assert.ok(largest > 0, 'nothing but zeros');
      const difference = web.reduce(
        (most, value, index) => Math.max(most, Math.abs(value - (native[index] ?? NaN))),
        0,
      );
      assert.ok(difference <= TOLERANCE * largest, `${difference} of ${largest}`);
    });
  }
});
