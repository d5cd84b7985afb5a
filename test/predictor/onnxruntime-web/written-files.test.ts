import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { WrittenFiles } from '../../../src/predictor/onnxruntime-web/written-files.js';
import { withTemporaryFolder } from '../../onnx/temporary-folder.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('files that the WebAssembly runtime writes', () => {
  test('hold the written bytes at their positions', async () => {
    await withTemporaryFolder((folder) => {
      const files = new WrittenFiles(folder);
      const file = files.create('graph.onnx') ?? assert.fail('not made');
      assert.equal(files.write(file, bytes('headbody')), true);
      assert.equal(files.seek(file, 0, 'position'), 8);
      assert.equal(files.seek(file, 0, 'beginning'), 0);
      files.write(file, bytes('HEAD'));
      files.close(file);

      assert.equal(readFileSync(join(folder, 'graph.onnx'), 'utf8'), 'HEADbody');
      assert.deepEqual([files.has(file), files.failure], [false, undefined]);
      return Promise.resolve();
    });
  });

  test('can be two at the same time', async () => {
    await withTemporaryFolder((folder) => {
      const files = new WrittenFiles(folder);
      const [one, two] = ['one', 'two'].map((name) => files.create(name) ?? assert.fail('not made')) as [
        number,
        number,
      ];
      files.write(one, bytes('1'));
      files.write(two, bytes('2'));
      files.closeAll();
      assert.deepEqual(
        ['one', 'two'].map((name) => readFileSync(join(folder, name), 'utf8')),
        ['1', '2'],
      );
      return Promise.resolve();
    });
  });

  test('are in the folder for every path', async () => {
    await withTemporaryFolder((folder) => {
      const files = new WrittenFiles(folder);
      files.create('../../escaped.onnx');
      files.closeAll();
      assert.deepEqual(
        [existsSync(join(folder, 'escaped.onnx')), existsSync(join(dirname(dirname(folder)), 'escaped.onnx'))],
        [true, false],
      );
      return Promise.resolve();
    });
  });

  test('keep the error of the file system', () => {
    const files = new WrittenFiles('/nowhere/at/all');
    assert.equal(files.create('graph.onnx'), undefined);
    assert.match(String(files.failure), /ENOENT/);
  });
});
