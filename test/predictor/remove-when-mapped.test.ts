import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, test } from 'node:test';
import { makeFeeds, materialize } from '../../src/predictor/materialize.js';
import { coverWhole, type MappedFile, mappedRanges } from '../../src/predictor/mapped-ranges.js';
import { inMemory } from '../../src/predictor/memory-folder.js';
import { openFilledModel } from '../../src/predictor/open-filled-model.js';
import { onnxRuntimePredictor } from '../../src/predictor/onnxruntime/predictor.js';
import type { Predictor } from '../../src/predictor/predictor.js';
import { benchmarkOf, runOptions } from '../agent/support/tiny-benchmarks.js';
import { floatsOf } from './values.js';

const MAPS = [
  '7f0000000000-7f0000003000 r--p 00002000 00:18 42                         /dev/shm/a/weights.bin',
  '7f0000004000-7f0000006000 r--p 00000000 00:18 42                         /dev/shm/a/weights.bin',
  '7f0000007000-7f0000009000 r--p 00005000 00:18 43                         /dev/shm/b/weights.bin',
  '7f000000a000-7f000000b000 rw-p 00000000 00:00 0 ',
  '',
].join('\n');

describe('a file is mapped whole', () => {
  const cases: readonly [string, string, number, boolean][] = [
    ['if its mappings cover all of it, in any order', '/dev/shm/a/weights.bin', 0x4800, true],
    ['but not if the end is missing', '/dev/shm/a/weights.bin', 0x5001, false],
    ['nor if the beginning is missing', '/dev/shm/b/weights.bin', 0x6000, false],
    ['nor if no part of it is mapped', '/dev/shm/c/weights.bin', 1, false],
  ];
  for (const [what, path, byteLength, expected] of cases) {
    test(what, () => assert.equal(coverWhole(mappedRanges(MAPS), [{ path, byteLength }]), expected));
  }

  test('together with others, if each of them is', () => {
    const [whole, none] = ['a', 'c'].map((name) => ({ path: `/dev/shm/${name}/weights.bin`, byteLength: 1 })) as [
      MappedFile,
      MappedFile,
    ];
    assert.deepEqual(
      [[whole], [none], [whole, none], []].map((files) => coverWhole(mappedRanges(MAPS), files)),
      [true, false, false, true],
    );
  });

  test('if the mappings at two moments together cover all of it', () => {
    const [, first = '', second = ''] = MAPS.split('\n', 3).reverse();
    const file = { path: '/dev/shm/a/weights.bin', byteLength: 0x4800 };
    assert.deepEqual(
      [first, second, `${first}\n${second}\n`].map((maps) => coverWhole(mappedRanges(maps), [file])),
      [false, false, true],
    );
  });
});

const canWatch = process.platform === 'linux' && process.arch === 'x64' && existsSync('/dev/shm');

describe('weights in memory', { skip: canWatch ? false : 'needs Linux on x64' }, () => {
  const side = 3072;
  /** Fully connected layers, whose weights the runtime packs, with weights of all sizes: 113 MB. */
  const dense = benchmarkOf({
    inputs: {
      x: { dims: [1, side] },
      ...Object.fromEntries([0, 1, 2].map((at) => [`w${at}`, { dims: [side, side], role: 'weight' as const }])),
      bias: { dims: [side], role: 'weight' },
      one: { dims: [1], role: 'weight' },
    },
    nodes: [
      { opType: 'MatMul', inputs: ['x', 'w0'], outputs: ['a'] },
      { opType: 'MatMul', inputs: ['a', 'w1'], outputs: ['b'] },
      { opType: 'Add', inputs: ['b', 'bias'], outputs: ['c'] },
      { opType: 'Mul', inputs: ['c', 'one'], outputs: ['d'] },
      { opType: 'MatMul', inputs: ['d', 'w2'], outputs: ['y'] },
    ],
    outputs: ['y'],
  });

  test('are removed while the runtime still packs them, and the outputs are the same', async () => {
    const temporaryFolder = mkdtempSync(join(tmpdir(), 'weights-in-memory-'));
    const file = join(inMemory(temporaryFolder), 'weights.bin');
    assert.equal(basename(inMemory(temporaryFolder)), basename(temporaryFolder));
    const real = onnxRuntimePredictor();
    let isThere: boolean | undefined;
    let mapped = '';
    const predictor: Predictor = {
      ...real,
      async open(source, options) {
        assert.ok(existsSync(file));
        const open = await real.open(source, options);
        isThere = existsSync(file);
        mapped = readFileSync('/proc/self/maps', 'utf8');
        return open;
      },
    };
    const outputOf = async (one: Predictor): Promise<readonly number[]> => {
      const open = await openFilledModel(one, materialize(dense), runOptions, { temporaryFolder });
      const outputs = await open.prepare(makeFeeds(dense)).evaluate();
      await open.close();
      return floatsOf(outputs.get('y'));
    };
    try {
      const early = await outputOf(predictor);
      assert.equal(isThere, false);
      // The session keeps the weights that it does not pack. The memory of a removed file is free when no part of it is mapped.
      assert.ok(mapped.includes(`${file} (deleted)`));
      assert.ok(!mapped.includes(`${file}.`));
      assert.deepEqual(early, await outputOf({ ...real, mapsWeightFiles: false }));
    } finally {
      rmSync(temporaryFolder, { recursive: true });
    }
  });
});
