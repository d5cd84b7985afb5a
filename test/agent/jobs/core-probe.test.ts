import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WorkProbe } from '../../../src/agent/jobs/core-probe.js';

/** A clock that says how long each probe takes: each reads it twice. */
function clockOf(durations: Iterable<number>) {
  const next = durations[Symbol.iterator]();
  let nowNs = 0n;
  let reads = 0;
  return (): bigint => {
    if (reads++ % 2 === 1) nowNs += BigInt(next.next().value ?? 0);
    return nowNs;
  };
}

function* durations(first: number, ...later: readonly number[]): Generator<number> {
  // The 50 probes after warming up, two tries each.
  for (let probe = 0; probe < 100; probe++) yield first;
  yield* later;
}

describe('a probe of the core', () => {
  it('is the faster of two tries, since an interrupt lengthens one', () => {
    const probe = new WorkProbe(clockOf(durations(20, 90, 21)));
    assert.equal(probe.take(), 21);
  });

  // SHARED_FROM: a second hyperthread makes it 1.6 times as long, an interrupt or the frequency 1.1 times at most.
  it('says that the core is shared from 1.3 times the fastest on', () => {
    const probe = new WorkProbe(clockOf(durations(100, 100, 100)));
    probe.take();
    assert.deepEqual([110, 130, 131, 160].map((ns) => probe.isShared(ns)), [false, false, true, true]);
  });

  it('knows a shared core from what other processes have found, and shows earlier ones later', () => {
    const probe = new WorkProbe(clockOf(durations(160, 160, 160, 100, 100)));
    const first = probe.take();
    assert.equal(probe.isShared(first), false);
    probe.take();
    assert.equal(probe.isShared(first), true);
    const other = new WorkProbe(clockOf(durations(160, 160, 160)));
    other.learn(probe.fastestNs);
    assert.equal(other.isShared(other.take()), true);
  });
});
