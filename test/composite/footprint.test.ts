import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isColdFootprint, footprintClass } from '../../src/composite/footprint.js';

const MIB = 2 ** 20;
const CACHE = 32 * MIB;

describe('classes of footprints', () => {
  test('are a factor of four apart; the nearest class on a logarithmic scale counts', () => {
    for (const [bytes, expected] of [
      [0, 1],
      [1.9, 1],
      [2.1, 4],
      [4, 4],
      [13, 4],
    ] as const) {
      assert.equal(footprintClass(bytes * MIB, CACHE) / MIB, expected, `${bytes} MiB`);
    }
  });

  test('end where a cache holds nothing: all larger footprints are one class', () => {
    const cold = 48 * MIB;
    assert.deepEqual([isColdFootprint(cold - 1, CACHE), isColdFootprint(cold, CACHE)], [false, true]);
    for (const bytes of [cold, 100 * MIB, 1024 * MIB]) assert.equal(footprintClass(bytes, CACHE), cold);
  });

  test('are all at least a factor of four below the last class', () => {
    // Between 4 and 48 MiB there is no 16.
    assert.equal(footprintClass(14.5 * MIB, CACHE), 48 * MIB);
    assert.equal(footprintClass(16 * MIB, 64 * MIB), 16 * MIB);
  });

  test('exist also where the size of the cache is unknown', () => {
    assert.ok(footprintClass(1024 * MIB, 0) > footprintClass(MIB, 0));
  });
});
