import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { readRecipe } from '../../plugins/dlbricks/bricks/recipe.js';
import { readResults } from '../../plugins/dlbricks/exchange/results-file.js';
import { PlatformError } from '../../src/base/errors.js';
import { readTrace } from '../../src/foreign-traces/read-trace.js';
import { readNpy } from '../../src/onnx/values/npy-file.js';
import { readManifestBytes } from '../../src/manifest/read-file.js';
import { temporaryFolder } from '../store/temporary-folder.js';

/** Readers of foreign files that a command line names. The reader of models is tested in test/onnx/read. */
const READERS: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  recipe: readRecipe,
  results: readResults,
  trace: readTrace,
  'table of layers': (path) => readTrace(path, { format: 'csv' }),
  'array of numbers': readNpy,
  manifest: async (path) => {
    const read = await readManifestBytes(path);
    if (!read.ok) throw new PlatformError('usage', `found ${read.found}`);
  },
};

async function pipeIn(t: TestContext): Promise<string> {
  const path = join(await temporaryFolder(t), 'pipe');
  execFileSync('mkfifo', [path]);
  return path;
}

// A device may have no end, and a pipe may never have any content.
describe('a device or a pipe is refused as', { timeout: 300_000, skip: process.platform === 'win32' }, () => {
  for (const [what, read] of Object.entries(READERS)) {
    test(`a ${what}`, async (t) => {
      for (const path of ['/dev/zero', await pipeIn(t)]) {
        await assert.rejects(read(path), { code: 'usage', message: /found a device or pipe/ });
      }
    });
  }
});
