import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchCurve, interpolated } from '../../src/load/batch-curve.js';
import { parseBound } from '../../src/load/bound.js';
import { leastQueries, nearestRank, upperPercentile } from '../../src/load/percentiles.js';

test('early stopping asks for as many queries as the published rule', () => {
  // MLPerf Inference's early stopping for t = 0, 1, 10.
  for (const [p, least] of [
    [0.9, [44, 64, 197]],
    [0.95, [90, 130, 398]],
    [0.99, [459, 662, 2010]],
  ] as const) {
    assert.deepEqual(
      [0, 1, 10].map((over) => leastQueries(p, over)),
      least,
    );
  }
});

test('percentiles are at the index ceil(n p) - 1', () => {
  const sorted = Float64Array.from({ length: 1000 }, (_, index) => index);
  assert.equal(nearestRank(sorted, 0.5), 499);
  assert.equal(nearestRank(sorted, 0.99), 989);
  assert.equal(nearestRank(sorted, 0.999), 998);
  assert.equal(nearestRank([], 0.5), NaN);
});

test('the upper estimate leaves out t - 1 queries, and needs as many as t = 1 does', () => {
  const sorted = (length: number) => Float64Array.from({ length }, (_, index) => index);
  assert.equal(upperPercentile(sorted(661), 0.99), null);
  assert.equal(upperPercentile(sorted(662), 0.99), 661);
  assert.equal(upperPercentile(sorted(2010), 0.99), 2000);
});

test('bounds are read as people write them', () => {
  assert.deepEqual(parseBound('20ms@p99'), { ms: 20, share: 0.99 });
  assert.deepEqual(parseBound('1.5s@p99.9'), { ms: 1500, share: 0.999 });
  for (const wrong of ['20ms', '20@p99', '0ms@p99', '20ms@p0', '20ms@p100', '-5ms@p99']) {
    assert.equal(parseBound(wrong), undefined, wrong);
  }
});

test('the best batch is the smallest whose doubling brings little', () => {
  const times = [1, 2, 4, 8, 16].map((batch) => ({ batch, ms: 10 + 5 * batch + (batch === 16 ? 75 : 0) }));
  const curve = batchCurve(times);
  assert.equal(curve?.best, 8);
  assert.equal(curve.largest, 8);
  assert.equal(curve.largestPerSecond, 160);
  const exact = batchCurve(times.slice(0, 4))?.line;
  assert.ok(exact && Math.abs(exact.aMs - 10) < 1e-9 && Math.abs(exact.bMs - 5) < 1e-9);
  assert.ok(exact.largestResidualMs < 1e-9);
  assert.equal(batchCurve(times.slice(0, 2))?.best, null);
  assert.equal(batchCurve([]), undefined);
});

test('the numbers of a line have standard errors, but not through two sizes', () => {
  // By hand: b = 1.4, a = 0.5, residuals 0.1 and 0.3 with two degrees of freedom, squares of x 5.
  const times = [2, 3, 5, 6].map((ms, index) => ({ batch: index + 1, ms }));
  const line = batchCurve(times)?.line;
  assert.ok(line?.errors);
  const close = (is: number, expected: number): void => assert.ok(Math.abs(is - expected) < 1e-9, `${is}`);
  close(line.aMs, 0.5);
  close(line.bMs, 1.4);
  close(line.errors.aMs, Math.sqrt(0.15));
  close(line.errors.bMs, Math.sqrt(0.02));
  assert.equal(line.errors.degrees, 2);
  assert.equal(batchCurve(times.slice(0, 2))?.line?.errors, null);
});

test('times between known sizes are interpolated', () => {
  const ms = interpolated([
    { batch: 8, ms: 80 },
    { batch: 2, ms: 20 },
    { batch: 4, ms: 50 },
  ]);
  assert.deepEqual([1, 2, 3, 4, 6, 8, 16].map(ms), [20, 20, 35, 50, 65, 80, 160]);
});
