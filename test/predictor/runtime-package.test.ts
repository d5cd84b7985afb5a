import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { findRuntimePackage } from '../../src/predictor/runtime-package.js';
import { temporaryFolder } from '../store/temporary-folder.js';

async function runtimes(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t);
  const before = process.env['MLMODELSCOPE_RUNTIMES'];
  process.env['MLMODELSCOPE_RUNTIMES'] = folder;
  t.after(() => {
    if (before === undefined) delete process.env['MLMODELSCOPE_RUNTIMES'];
    else process.env['MLMODELSCOPE_RUNTIMES'] = before;
  });
  return folder;
}

async function installed(folder: string, version: string, name = 'onnxruntime-node'): Promise<string> {
  const place = join(folder, 'node_modules', 'onnxruntime-node');
  await mkdir(place, { recursive: true });
  await writeFile(join(place, 'package.json'), JSON.stringify({ name, version }));
  return place;
}

describe('a package of the runtime', () => {
  test('is found by its version, and by its folder', async (t) => {
    const folder = await runtimes(t);
    const place = await installed(join(folder, '1.27.0'), '1.27.0');
    assert.deepEqual(findRuntimePackage('onnxruntime-node@1.27.0'), { folder: place, version: '1.27.0' });
    assert.deepEqual(findRuntimePackage(`onnxruntime-node@${place}`), { folder: place, version: '1.27.0' });
  });

  test('that is not installed is refused with the command that installs it', async (t) => {
    const folder = await runtimes(t);
    assert.throws(() => findRuntimePackage('onnxruntime-node@1.2.3'), {
      code: 'not_found',
      message: new RegExp(`'npm install --prefix ${join(folder, '1.2.3')} onnxruntime-node@1.2.3' installs it$`),
    });
  });

  test('is refused where another version or another package is in its place', async (t) => {
    const folder = await runtimes(t);
    await installed(join(folder, '1.27.0'), '1.26.0');
    assert.throws(() => findRuntimePackage('onnxruntime-node@1.27.0'), {
      message: /has version 1\.26\.0, not 1\.27\.0/,
    });
    const other = await installed(join(folder, 'other'), '1.27.0', 'something-else');
    assert.throws(() => findRuntimePackage(`onnxruntime-node@${other}`), {
      message: /is not the package onnxruntime-node$/,
    });
  });

  test('is named by a version or a folder, by nothing else', () => {
    for (const text of ['onnxruntime-web@1.27.0', 'onnxruntime-node', 'onnxruntime-node@', 'onnxruntime-node@^1']) {
      assert.throws(() => findRuntimePackage(text), { code: 'usage' }, text);
    }
  });
});
