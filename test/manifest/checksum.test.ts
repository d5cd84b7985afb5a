import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { resolveModel } from '../../src/manifest/resolve-model.js';
import { verifyChecksum } from '../../src/manifest/checksum.js';
import { folderWith } from './folder.js';

// Digests of the three bytes "abc": FIPS 180-2 appendix B.1, and RFC 1321 appendix A.5.
const SHA256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
const MD5 = '900150983cd24fb0d6963f7d28e17f72';

for (const [algorithm, digest] of [
  ['sha256', SHA256],
  ['md5', MD5],
] as const) {
  test(`the right file passes by ${algorithm}`, async (t) => {
    const folder = await folderWith(t, { 'a.onnx': 'abc' });
    await verifyChecksum(join(folder, 'a.onnx'), { algorithm, digest });
  });
}

test('another file is an error that names both checksums', async (t) => {
  const folder = await folderWith(t, { 'a.onnx': 'abc' });
  const wanted = '0'.repeat(64);
  await assert.rejects(verifyChecksum(join(folder, 'a.onnx'), { algorithm: 'sha256', digest: wanted }), {
    code: 'model',
    message: new RegExp(`expected sha256 ${wanted}, found ${SHA256}`),
  });
});

test('a missing file is an error', async () => {
  await assert.rejects(verifyChecksum('/nowhere/a.onnx', { algorithm: 'md5', digest: MD5 }), /found no such file/);
});

test('checking can be cancelled', async (t) => {
  const folder = await folderWith(t, { 'a.onnx': 'abc' });
  await assert.rejects(verifyChecksum(join(folder, 'a.onnx'), { algorithm: 'md5', digest: MD5 }, AbortSignal.abort()), {
    code: 'cancelled',
  });
});

test('a manifest without the checksum of its file is told it', async (t) => {
  const manifest = `dlspec: model/v1
name: a
version: 1.0.0
framework: { name: onnxruntime, version: '>=1' }
inputs: [{ layer_name: x, element_type: float32, dimensions: [1] }]
outputs: [{ layer_name: y, element_type: float32, dimensions: [1] }]
model: { graph_path: a.onnx }
`;
  const folder = await folderWith(t, { 'a.onnx': 'abc', 'a.yml': manifest });
  const resolved = await resolveModel(join(folder, 'a.yml'));
  assert.ok(!resolved.ok);
  const [problem] = resolved.problems;
  assert.deepEqual([problem?.path, problem?.found], ['model.checksum', `nothing; "a.onnx" has ${SHA256}`]);
});
