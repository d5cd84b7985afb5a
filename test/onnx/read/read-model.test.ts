import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readModel } from '../../../src/onnx/read/read-model.js';
import { floats, integers, node, pipeline, tensor } from '../protos.js';
import { WEIGHT_BYTES, writeSparseModel } from '../sparse-model.js';
import { withTemporaryFolder } from '../temporary-folder.js';

const LIMIT = { timeout: 60_000 };

async function refusal(path: string): Promise<string> {
  try {
    await readModel(path);
  } catch (error) {
    assert.ok(error instanceof Error);
    assert.equal(error.name, 'PlatformError');
    assert.ok(error.message.startsWith(path), error.message);
    return error.message;
  }
  return assert.fail(`${path} was read`);
}

describe('a file that is no model', () => {
  const contents: [what: string, content: Uint8Array | string, pattern: RegExp][] = [
    ['an empty file', '', /is empty/],
    ['a text file', 'hello world\n', /is not an ONNX file/],
    ['a JSON file', '{"a": 1}', /is not an ONNX file/],
    ['a picture', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), /is not an ONNX file/],
    ['a zip archive', Buffer.from('504b0304140000000800', 'hex'), /is not an ONNX file/],
    ['a Git LFS pointer', 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n', /git lfs pull/],
    ['a protobuf message of another kind', Buffer.from([8, 1, 18, 2, 104, 105]), /holds no graph/],
  ];
  for (const [what, content, pattern] of contents) {
    test(what, LIMIT, () =>
      withTemporaryFolder(async (folder) => {
        const path = join(folder, 'model.onnx');
        await writeFile(path, content);
        assert.match(await refusal(path), pattern);
      }),
    );
  }

  test('a missing file', LIMIT, () =>
    withTemporaryFolder(async (folder) => assert.match(await refusal(join(folder, 'no.onnx')), /does not exist/)),
  );
  test('a folder', LIMIT, () =>
    withTemporaryFolder(async (folder) => assert.match(await refusal(folder), /is a folder/)),
  );

  const posixOnly = process.platform === 'win32' ? 'no such files here' : false;
  test('a pipe without a writer', { ...LIMIT, skip: posixOnly }, () =>
    withTemporaryFolder(async (folder) => {
      const path = join(folder, 'pipe.onnx');
      execFileSync('mkfifo', [path]);
      assert.match(await refusal(path), /is a device or pipe/);
    }),
  );
  test('an endless device', { ...LIMIT, skip: posixOnly }, async () =>
    assert.match(await refusal('/dev/zero'), /is a device or pipe/),
  );
});

test('a truncated model says so', () =>
  withTemporaryFolder(async (folder) => {
    const path = join(folder, 'cut.onnx');
    const bytes = pipeline([node('Add', ['x', 'w'], ['y'])], { initializer: [floats('w', [1, 2, 3, 4])] });
    await writeFile(path, bytes.subarray(0, bytes.length - 7));
    assert.match(await refusal(path), /bytes are announced, but the file ends after \d+.*truncated/);
  }));

describe('weights stay where they are', () => {
  for (const where of ['inline', 'external'] as const) {
    // 150 weights are 2.5 GB, so that offsets no longer fit into 31 bits.
    test(`${where} weights of more than 2 GiB`, LIMIT, () =>
      withTemporaryFolder(async (folder) => {
        const path = await writeSparseModel(folder, 150, where);
        const { graph } = await readModel(path);
        assert.equal(graph.nodes.length, 150);
        const data = graph.initializers.get('w149')?.data;
        assert.equal(data?.kind, 'file');
        assert.equal(data.byteLength, WEIGHT_BYTES);
        assert.ok(data.offset > 2 ** 31);
      }),
    );
  }

  test('a weight is found at its place in the file', () =>
    withTemporaryFolder(async (folder) => {
      const path = join(folder, 'm.onnx');
      const values = Array.from({ length: 10_000 }, (_, i) => i);
      const nodes = [node('Op', ['x', 'raw', 'list'], ['y'])];
      const list = tensor('list', 'float32', [values.length], { floatData: values });
      await writeFile(path, pipeline(nodes, { initializer: [floats('raw', values), list] }));
      const { initializers } = (await readModel(path)).graph;
      for (const name of ['raw', 'list']) {
        const data = initializers.get(name)?.data;
        assert.equal(data?.kind, 'file');
        const stored = readFileSync(data.path).subarray(data.offset, data.offset + data.byteLength);
        assert.deepEqual(new Float32Array(new Uint8Array(stored).buffer), Float32Array.from(values));
      }
    }));

  test('constants that may steer an operator are loaded', () =>
    withTemporaryFolder(async (folder) => {
      const path = join(folder, 'm.onnx');
      const indices = Array.from({ length: 5000 }, (_, i) => BigInt(i));
      const initializer = [floats('scales', [1, 1, 2, 2]), integers('indices', indices)];
      await writeFile(path, pipeline([node('Op', ['x', 'scales', 'indices'], ['y'])], { initializer }));
      const { initializers } = (await readModel(path)).graph;
      assert.deepEqual(
        [...initializers].map(([name, { data }]) => [name, data.kind]),
        [
          ['scales', 'inline'],
          ['indices', 'inline'],
        ],
      );
    }));
});

test('a hundred thousand tiny tensors take linear time', LIMIT, () =>
  withTemporaryFolder(async (folder) => {
    const path = join(folder, 'many.onnx');
    const initializer = Array.from({ length: 100_000 }, (_, i) => floats(`w${i}`, [i]));
    const names = initializer.map(({ name }) => name);
    await writeFile(path, pipeline([node('Sum', ['x', ...names], ['y'])], { initializer }));
    const { initializers } = (await readModel(path)).graph;
    const last = initializers.get('w99999')?.data;
    assert.equal(last?.kind, 'inline');
    assert.equal(new DataView(last.bytes.buffer, last.bytes.byteOffset).getFloat32(0, true), 99_999);
  }),
);
