import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeCurve } from '../../../plugins/load/figures.js';
import { exponential } from '../../../src/load/schedule.js';
import { xoshiro128pp } from '../../../src/base/random.js';

const SIZES = [1, 2, 4, 8, 16];

test('95 % intervals of a and b hold the true numbers in about 95 % of fits', () => {
  const next = xoshiro128pp(5);
  /** About normal, with mean 0 and variance 1. */
  const noise = (): number => Array.from({ length: 16 }, () => exponential(next) - 1).reduce((a, b) => a + b, 0) / 4;
  const fits = 1000;
  const held = { a: 0, b: 0 };
  for (let fit = 0; fit < fits; fit++) {
    const curve = computeCurve(SIZES.map((batch) => ({ batch, ms: 20 + 5 * batch + noise() })));
    if (curve?.a_low_ms == null || curve.a_high_ms == null || curve.b_low_ms == null || curve.b_high_ms == null)
      continue;
    held.a += Number(curve.a_low_ms <= 20 && 20 <= curve.a_high_ms);
    held.b += Number(curve.b_low_ms <= 5 && 5 <= curve.b_high_ms);
  }
  for (const count of Object.values(held)) assert.ok(Math.abs(count / fits - 0.95) < 0.025, `${count} of ${fits}`);
});

test('the intervals of estimates widen those of a and b, also where all times are on a line', () => {
  const at = (factor: number) => SIZES.map((batch) => ({ batch, ms: factor * (20 + 5 * batch) }));
  const curve = computeCurve(at(1), { low: at(0.9), high: at(1.1) });
  const rounded = [curve?.a_low_ms, curve?.a_high_ms, curve?.b_low_ms, curve?.b_high_ms].map((ms) => ms?.toFixed(6));
  assert.deepEqual(rounded, ['18.000000', '22.000000', '4.500000', '5.500000']);
});

test('through two sizes every line fits, so its numbers have no interval', () => {
  const curve = computeCurve([
    { batch: 1, ms: 10 },
    { batch: 2, ms: 15 },
  ]);
  assert.deepEqual([curve?.a_ms, curve?.a_low_ms, curve?.b_ms, curve?.b_high_ms], [5, null, 5, null]);
});
