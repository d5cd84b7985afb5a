import assert from 'node:assert/strict';
import { test } from 'node:test';
import { poissonArrivals } from '../../src/load/schedule.js';
import { type SimulatedTrial, simulateTrial } from '../../src/load/simulate.js';
import { summarized } from './support.js';

// T(B) = 1 + 0.25 B ms.
const service = { runMs: (batch: number) => 1 + 0.25 * batch };

function served(perSecond: number, batching: { limit: number; waitMs: number }, queries = 20_000): SimulatedTrial {
  const arrivals = poissonArrivals({ perSecond, queries, seed: 11 });
  return simulateTrial(
    { plan: { kind: 'open', arrivals }, dispatch: 'turns', seed: 1, limit: batching.limit },
    batching,
    [service],
  );
}

test('a greedy batcher saturates at B / T(B)', () => {
  // Everything at once: 8 / 3 ms.
  const arrivals = Array.from({ length: 40_000 }, () => ({ atMs: 0, samples: 1 }));
  const options = { plan: { kind: 'open', arrivals }, dispatch: 'turns', seed: 1, limit: 8 } as const;
  const trial = simulateTrial(options, { limit: 8, waitMs: 0 }, [service]);
  const { samplesPerSecond, meanBatch } = summarized(trial);
  assert.ok(Math.abs((samplesPerSecond ?? 0) / (8000 / 3) - 1) < 0.01, `${samplesPerSecond}`);
  assert.ok(Math.abs((meanBatch ?? 0) - 8) < 0.01);
});

test('with few queries, batches have one of them', () => {
  const { meanBatch } = summarized(served(1, { limit: 8, waitMs: 0 }, 2000));
  assert.ok(meanBatch !== null && meanBatch < 1.01, `${meanBatch}`);
});

test('a query waits for others no longer than the limit, and only for a batch', () => {
  for (const waitMs of [2, 5]) {
    const { records } = served(300, { limit: 4, waitMs });
    let freeMs = 0;
    for (const { scheduledMs, startedMs, batch } of records) {
      assert.ok(startedMs !== null && batch !== null);
      // The model was free from `freeMs` on: it waited for no longer than the limit from then or from the arrival.
      const idleMs = startedMs - Math.max(freeMs, scheduledMs);
      assert.ok(idleMs <= waitMs + 1e-9, `${idleMs}`);
      freeMs = Math.max(freeMs, startedMs + service.runMs(batch));
    }
  }
});

test('queries of several samples are never divided', () => {
  const arrivals = Array.from({ length: 100 }, () => ({ atMs: 0, samples: 3 }));
  const options = { plan: { kind: 'open', arrivals }, dispatch: 'turns', seed: 1, limit: 8 } as const;
  const { records } = simulateTrial(options, { limit: 8, waitMs: 0 }, [service]);
  assert.deepEqual(new Set(records.map(({ batch }) => batch)), new Set([3, 6]));
});
