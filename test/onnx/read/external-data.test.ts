import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { TensorProto_DataLocation } from '../../../src/generated/onnx/onnx.js';
import { readModel } from '../../../src/onnx/read/read-model.js';
import { graph, graphAttribute, node, pipeline, tensor, value } from '../protos.js';
import { withTemporaryFolder } from '../temporary-folder.js';

/** A weight of 2000 float32, 8000 bytes, whose external data is described by the entries. */
function external(entries: Readonly<Record<string, string>>, name = 'w', count = 2000) {
  return tensor(name, 'float32', [count], {
    dataLocation: TensorProto_DataLocation.EXTERNAL,
    externalData: Object.entries(entries).map(([key, text]) => ({ key, value: text })),
  });
}

function modelWith(entries: Readonly<Record<string, string>>): Uint8Array {
  return pipeline([node('Op', ['x', 'w'], ['y'])], { initializer: [external(entries)] });
}

/** A folder with a model in a folder of its own, and data files of 10000 bytes in and beside that folder. */
async function inModelFolder(use: (folder: string) => Promise<void>): Promise<void> {
  await withTemporaryFolder(async (root) => {
    const folder = join(root, 'model');
    await mkdir(join(folder, 'data'), { recursive: true });
    for (const path of ['outside.bin', 'model/w.bin', 'model/data/w.bin']) {
      await writeFile(join(root, path), Buffer.alloc(10_000, 7));
    }
    await use(folder);
  });
}

test('the data of a weight is found by location, offset and length', () =>
  inModelFolder(async (folder) => {
    const path = join(folder, 'm.onnx');
    await writeFile(path, modelWith({ location: 'data/w.bin', offset: '1000', length: '8000', checksum: 'abc' }));
    const data = (await readModel(path)).graph.initializers.get('w')?.data;
    assert.equal(data?.kind, 'file');
    assert.deepEqual([data.offset, data.byteLength], [1000, 8000]);
    assert.ok(data.path.endsWith(join('model', 'data', 'w.bin')));
  }));

test('data that may be missing is made up, and its file is named', () =>
  inModelFolder(async (folder) => {
    const path = join(folder, 'm.onnx');
    await writeFile(path, modelWith({ location: 'gone.bin' }));
    const { initializers } = (await readModel(path, { ownValues: 'optional' })).graph;
    const made = { kind: 'fill', fill: { low: -1, high: 1, seed: 0 }, missingFrom: 'gone.bin' };
    assert.deepEqual(initializers.get('w')?.data, made);
  }));

test('small external data is loaded, also inside of a subgraph', () =>
  inModelFolder(async (folder) => {
    const branch = graph({
      node: [node('Add', ['x', 'inner'], ['b'])],
      initializer: [external({ location: 'w.bin' }, 'inner', 4)],
      output: [value('b')],
    });
    const nodes = [
      node('If', ['c'], ['h'], [graphAttribute('then_branch', branch), graphAttribute('else_branch', branch)]),
      node('Add', ['h', 'w'], ['y']),
    ];
    const path = join(folder, 'm.onnx');
    const initializer = [external({ location: 'w.bin', offset: '4' }, 'w', 4)];
    await writeFile(path, pipeline(nodes, { input: [value('x', [1, 4]), value('c', [], 'bool')], initializer }));
    const read = (await readModel(path)).graph;
    assert.deepEqual(read.initializers.get('w')?.data, { kind: 'inline', bytes: new Uint8Array(16).fill(7) });
    const inner = read.nodes[0]?.attributes[0]?.g?.initializer[0];
    assert.deepEqual(inner?.rawData, new Uint8Array(16).fill(7));
    assert.equal(inner?.dataLocation, TensorProto_DataLocation.DEFAULT);
  }));

describe('external data that cannot be used names model, tensor and file', () => {
  const wrong: [what: string, entries: Readonly<Record<string, string>>, pattern: RegExp][] = [
    [
      'a file that is missing',
      { location: 'gone.bin' },
      /"gone\.bin", which cannot be read from .*model\. Put the file/,
    ],
    ['a path that leads up', { location: '../outside.bin' }, /not a path inside the model's folder/],
    ['a path that leads up in the middle', { location: 'data/../../outside.bin' }, /not a path inside/],
    ['an absolute path', { location: '/etc/passwd' }, /not a path inside/],
    ['no path', {}, /not a path inside/],
    ['a path with a zero byte', { location: 'w.bin\0' }, /not a path inside/],
    ['a link that leads out', { location: 'link.bin' }, /a link that leads out/],
    ['a folder', { location: 'data' }, /is not a file/],
    [
      'a file that is too short',
      { location: 'w.bin', offset: '2001' },
      /8000 bytes from byte 2001 of "w\.bin", which ends/,
    ],
    ["a length that is not the shape's", { location: 'w.bin', length: '4' }, /shape takes 8000 bytes.*says 4/],
    ['an offset that is no number', { location: 'w.bin', offset: '-1' }, /offset of its external data is "-1"/],
    ['an offset beyond all files', { location: 'w.bin', offset: '9999999999999999' }, /offset of its external data/],
  ];
  for (const [what, entries, pattern] of wrong) {
    const skip = what.startsWith('a link') && process.platform === 'win32' ? 'links need rights there' : false;
    test(what, { skip }, () =>
      inModelFolder(async (folder) => {
        if (what.startsWith('a link')) await symlink(join(folder, '..', 'outside.bin'), join(folder, 'link.bin'));
        const path = join(folder, 'm.onnx');
        await writeFile(path, modelWith(entries));
        await assert.rejects(readModel(path), { name: 'PlatformError', code: 'model', message: pattern });
        await assert.rejects(readModel(path), ({ message }: Error) => message.startsWith(`${path}: initializer "w"`));
      }),
    );
  }

  test(
    'a link that stays inside is followed',
    { skip: process.platform === 'win32' && 'links need rights there' },
    () =>
      inModelFolder(async (folder) => {
        await symlink(join(folder, 'data', 'w.bin'), join(folder, 'link.bin'));
        const path = join(folder, 'm.onnx');
        await writeFile(path, modelWith({ location: 'link.bin' }));
        assert.equal((await readModel(path)).graph.initializers.get('w')?.data.kind, 'file');
      }),
  );
});
