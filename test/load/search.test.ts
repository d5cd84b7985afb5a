import assert from 'node:assert/strict';
import { test } from 'node:test';
import { largestRate, type RateHolds, type RateTrial } from '../../src/load/search.js';
import { poissonTrial, summarized } from './support.js';

function trialWithin(boundMs: number, queries: number): (trial: RateTrial) => RateHolds {
  const bound = { ms: boundMs, share: 0.99 };
  return ({ perSecond, seed }) =>
    summarized(poissonTrial(perSecond / 1000, queries, seed, undefined, bound), bound).holds;
}

// Largest utilizations of M/D/1 for a p99 of k service times, from Erlang's formula.
// A rate passes only where it is certain that the bound holds, so that the result is below them, by more at a bound of few
// service times.
for (const [boundMs, rho, queries] of [
  [3, 0.32, 100_000],
  [5, 0.561, 60_000],
  [10, 0.773, 30_000],
] as const) {
  test(`the largest rate within ${boundMs} service times is that of queueing theory`, () => {
    const { passed, failed, stopped } = largestRate(trialWithin(boundMs, queries), 500, 1);
    assert.equal(stopped, null);
    assert.ok(passed !== null && failed !== null && passed < failed);
    assert.ok(Math.abs(passed / 1000 / rho - 1) < 0.04, `${passed / 1000} instead of ${rho}`);
  });
}

test('a server that never meets the bound ends the search, without a rate', () => {
  const { passed, trials, stopped } = largestRate(trialWithin(0.5, 2010), 500, 1);
  assert.equal(passed, null);
  assert.ok(trials < 20);
  assert.match(stopped ?? '', /no rate is low enough/);
});

test('a server that meets every bound ends the search', () => {
  const { stopped, trials } = largestRate(() => true, 500, 1);
  assert.match(stopped ?? '', /no rate is too high/);
  assert.ok(trials < 20);
});

test('a rate that failed by chance is tried again, and the search goes on above it', () => {
  for (const failing of [0, 1, 2, 3]) {
    let trials = 0;
    const { passed, failed } = largestRate(({ perSecond }) => trials++ !== failing && perSecond <= 95, 50, 1);
    assert.ok(passed !== null && passed <= 95 && passed > 92, `${failing}: ${passed}`);
    assert.ok(failed !== null && failed > 95 && failed < 98, `${failing}: ${failed}`);
  }
});

test('a rate that passes by chance is lowered until it passes with three further seeds', () => {
  // Fails every third trial above 95 queries per second.
  let trials = 0;
  const { passed } = largestRate(({ perSecond }) => perSecond <= 95 || (perSecond < 110 && trials++ % 3 > 0), 50, 1);
  assert.ok(passed !== null && passed <= 95 && passed > 90, `${passed}`);
});

test('a trial without a result is repeated, and three of them end the search with the reason', () => {
  let trials = 0;
  const often = largestRate(({ perSecond }) => (trials++ % 3 > 0 ? perSecond <= 95 : null), 50, 1);
  assert.equal(often.stopped, null);
  assert.ok(often.passed !== null && often.passed <= 95 && often.passed > 90, `${often.passed}`);
  const never = largestRate(() => null, 50, 1);
  assert.match(never.stopped ?? '', /a trial had no result/);
  assert.equal(never.trials, 3);
});
