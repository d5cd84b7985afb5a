import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { offeredRate, poissonArrivals } from '../../src/load/schedule.js';
import { spreadOf } from './support.js';

const arrivalsOf = (seed: number) => poissonArrivals({ perSecond: 250, queries: 1000, seed });

test('the same seed gives the same schedule, bit for bit, on every machine', () => {
  const bits = Float64Array.from(arrivalsOf(42), ({ atMs }) => atMs);
  assert.deepEqual(arrivalsOf(42), arrivalsOf(42));
  // Of this version; it must never change, because documents state their seeds.
  const hash = createHash('sha256').update(new Uint8Array(bits.buffer)).digest('hex');
  assert.equal(hash, '008b64c377706c5bbf727dc72722461bac97b20a2e49499f4847a50f3d91a63d');
});

test('another seed gives another schedule of the same rate', () => {
  assert.notDeepEqual(arrivalsOf(42), arrivalsOf(43));
  const rates = Array.from({ length: 40 }, (_, seed) => offeredRate(arrivalsOf(seed)));
  const { mean, error } = spreadOf(rates);
  assert.ok(Math.abs(mean - 250) < 3 * error, `${mean} ± ${error}`);
  // The gaps of a Poisson process have a standard deviation as large as their mean.
  const times = arrivalsOf(7).map(({ atMs }) => atMs);
  const gaps = spreadOf(times.slice(1).map((time, index) => time - (times[index] ?? 0)));
  const deviation = gaps.error * Math.sqrt(times.length - 1);
  assert.ok(Math.abs(deviation / gaps.mean - 1) < 0.15, `${deviation} of ${gaps.mean}`);
});

test('a run has the least number of queries and the least time', () => {
  const arrivals = poissonArrivals({ perSecond: 1000, queries: 10, leastMs: 1000, seed: 1 });
  assert.ok(arrivals.length > 800);
  assert.ok((arrivals.at(-1)?.atMs ?? Infinity) <= 1000);
});
