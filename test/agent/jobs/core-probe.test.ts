import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { describe, it } from 'node:test';
import { WorkProbe } from '../../../src/agent/jobs/core-probe.js';
import { needsLinux } from '../support/processes.js';

/** A clock for tries of these durations; each try reads the clock twice. */
function clockOf(durations: Iterator<number, void>) {
  let nowNs = 0n;
  let reads = 0;
  return (): bigint => {
    if (reads++ % 2 === 1) nowNs += BigInt(durations.next().value ?? 0);
    return nowNs;
  };
}

/** The 150 tries of the 50 probes after the warm-up take `first` each; the tries after that take `later`. */
function* durations(first: number, ...later: readonly number[]): Generator<number, void> {
  for (let attempt = 0; attempt < 150; attempt++) yield first;
  yield* later;
}

describe('a probe of the core', () => {
  it('is the fastest of three tries, since an interrupt lengthens one', async () => {
    const probe = new WorkProbe(clockOf(durations(20, 90, 21, 70)));
    assert.equal(await probe.take(1), 21);
  });

  // SHARED_FROM: a second hyperthread makes it 1.6 times as long, an interrupt or the frequency 1.1 times at most.
  it('says that the core is shared above 1.3 times the fastest probe', async () => {
    const probe = new WorkProbe(clockOf(durations(100, 100, 100, 100)));
    await probe.take(1);
    assert.deepEqual(
      [110, 130, 131, 160].map((ns) => probe.isShared(ns)),
      [false, false, true, true],
    );
  });

  it('says that an earlier probe was shared once it, or another process, has a faster one', async () => {
    const probe = new WorkProbe(clockOf(durations(160, 160, 160, 160, 100, 100, 100)));
    const first = await probe.take(1);
    assert.equal(probe.isShared(first), false);
    await probe.take(1);
    assert.equal(probe.isShared(first), true);
    const other = new WorkProbe(clockOf(durations(160, 160, 160, 160)));
    other.learn(probe.fastestNs);
    assert.equal(other.isShared(await other.take(1)), true);
  });

  it('is that of the slowest core where a runtime has several threads', async () => {
    // The clock of this thread does not move; the other thread has a clock of its own.
    const probe = new WorkProbe(() => 0n);
    assert.equal(await probe.take(1), 0);
    for (const threads of [2, 3, 2]) assert.ok((await probe.take(threads)) > 0);
    assert.equal(probe.fastestNs, 0);
  });

  it('lets the threads of the runtime become idle before other threads take part', async () => {
    const probe = new WorkProbe(() => 0n);
    await probe.take(2);
    let hasWaited = false;
    setImmediate(() => (hasWaited = true));
    await probe.take(2);
    assert.equal(hasWaited, true);
  });

  it('looks at the time of the processor until the threads are idle, twenty times at most', async (t) => {
    const looksFor = async (busyLooks: number) => {
      let looks = 0;
      const cpuUsage = t.mock.method(process, 'cpuUsage', (before?: unknown) => {
        // A look takes 5 ms; threads that spin take a second of processor time meanwhile.
        return { user: before !== undefined && looks++ < busyLooks ? 6e5 : 0, system: looks <= busyLooks ? 4e5 : 0 };
      });
      await new WorkProbe(() => 0n).take(2);
      cpuUsage.mock.restore();
      return looks;
    };
    assert.deepEqual([await looksFor(0), await looksFor(3), await looksFor(100)], [1, 4, 20]);
  });

  it('takes no more threads than there are cores, however many the runtime has', { skip: needsLinux }, async () => {
    const threads = (): number => readdirSync('/proc/self/task').length;
    const before = threads();
    assert.ok((await new WorkProbe(() => 0n).take(64)) >= 0);
    assert.ok(threads() - before < availableParallelism());
  });

  // MAX_DROPPED_MS and MAX_DROPPED_SHARE: two seconds, and half of the time of the runs that count.
  it('is patient with a shared core for two seconds plus half of the time of other runs', () => {
    const probe = new WorkProbe(() => 0n);
    probe.count(1999, true);
    assert.equal(probe.isPatient, true);
    probe.count(1, true);
    assert.equal(probe.isPatient, false);
    probe.count(100, false);
    assert.equal(probe.isPatient, true);
    probe.count(50, true);
    assert.equal(probe.isPatient, false);
  });

  /** A probe whose clock advances at each read, by 100 ns during the warm-up and by `workNs` later. */
  async function sharedAfterwards(workNs: () => number) {
    let nowNs = 0;
    let isWarm = false;
    const probe = new WorkProbe(() => BigInt((nowNs += isWarm ? workNs() : 100)));
    await probe.take(1);
    isWarm = true;
    return probe;
  }

  it('times work that takes much longer than a look at the clock', async () => {
    const lookNs = Array.from({ length: 1000 }, () => {
      const startNs = process.hrtime.bigint();
      return Number(process.hrtime.bigint() - startNs);
    });
    const workNs = await new WorkProbe(() => process.hrtime.bigint()).take(1);
    assert.ok(workNs > 10 * Math.min(...lookNs), `${workNs} and ${Math.min(...lookNs)} ns`);
  });

  it('waits until the core is free', async () => {
    let reads = 0;
    const probe = await sharedAfterwards(() => (reads++ < 50 ? 170 : 100));
    const sharedNs = await probe.take(1);
    assert.deepEqual([sharedNs, probe.isShared(sharedNs)], [170, true]);
    assert.equal(await probe.untilAlone(1, sharedNs), 100);
    assert.ok(reads > 50);
  });

  it('stops waiting when its patience ends, and does not wait again', async () => {
    let reads = 0;
    const probe = await sharedAfterwards(() => (reads++, 200));
    probe.count(1999.999, true);
    const sharedNs = await probe.take(1);
    reads = 0;
    assert.equal(await probe.untilAlone(1, sharedNs), 200);
    assert.equal(probe.isPatient, false);
    // One wait of 1.4 µs by this clock: a look before, three tries of two looks, and a look after.
    assert.equal(reads, 8);
    assert.equal(await probe.untilAlone(1, 999), 999);
  });
});
