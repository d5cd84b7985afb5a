import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isColdFootprint, footprintClass } from '../../src/composite/footprint.js';

const MIB = 2 ** 20;
const CACHE = 32 * MIB;

describe('classes of footprints', () => {
  test('are a factor of four apart; a model touches at most 1.41 times as much as its class', () => {
    for (const [bytes, expected] of [
      [0, 1 / 16],
      [1 / 8, 1 / 4],
      [1.4, 1],
      [1.5, 4],
      [4, 4],
      [5.6, 4],
      [6, 16],
      [16, 16],
      [22, 16],
      [32, 48],
      [47, 48],
    ] as const) {
      assert.equal(footprintClass(bytes * MIB, CACHE) / MIB, expected, `${bytes} MiB`);
    }
  });

  test('end where a cache holds nothing: all larger footprints are one class, of four caches', () => {
    const cold = 48 * MIB;
    assert.deepEqual([isColdFootprint(cold - 1, CACHE), isColdFootprint(cold, CACHE)], [false, true]);
    for (const bytes of [cold, 100 * MIB, 1024 * MIB]) assert.equal(footprintClass(bytes, CACHE), 128 * MIB);
  });

  test('do not make composites read more than 256 MiB or 1.5 caches', () => {
    assert.equal(footprintClass(1024 * MIB, 96 * MIB), 256 * MIB);
    assert.equal(footprintClass(1024 * MIB, 256 * MIB), 384 * MIB);
  });

  test('are those of a cache of 32 MiB where the size of the cache is unknown', () => {
    for (const bytes of [MIB, 47 * MIB, 48 * MIB]) assert.equal(footprintClass(bytes, 0), footprintClass(bytes, CACHE));
    assert.deepEqual([isColdFootprint(48 * MIB - 1, 0), isColdFootprint(48 * MIB, 0)], [false, true]);
  });
});
