import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Clock } from '../../src/base/clock.js';
import { PlatformError } from '../../src/base/errors.js';
import { Leases } from '../../src/store/leases/leases.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { assertRefused } from '../rpc/support/refusal.js';
import { withChanges } from '../server/changing-store.js';
import { fast, suspendable } from './fast-clock.js';

const NAMES = ['one', 'two', 'three'];

/** The requirements on leases in every backend. `open` gives a new, empty store, and cleans up after the test. */
export function leasesContract(name: string, open: (t: TestContext) => Promise<ResultStore>): void {
  describe(`leases in the ${name} result store`, { timeout: 300_000 }, () => {
    /** Holders of leases in one store, which are closed before it. */
    const holders = async (t: TestContext, ...clocks: readonly Clock[]): Promise<readonly Leases[]> => {
      const store = await open(t);
      return clocks.map((clock) => {
        const leases = new Leases(store, 'measurement', clock);
        t.after(() => leases.close());
        return leases;
      });
    };

    /** Asks until no other process holds any of the names. */
    const takeAtLast = async (leases: Leases, names: readonly string[]): Promise<void> => {
      while ((await leases.take(names)).size > 0) await fast.sleep(500);
    };

    it('are held by one of all who ask at once', async (t) => {
      const all = await holders(t, fast, fast, fast, fast);
      const others = await Promise.all(all.map((leases) => leases.take(NAMES)));
      for (const one of NAMES) assert.equal(others.filter((held) => !held.has(one)).length, 1, one);
      const held = await Promise.all(all.map((leases) => leases.held()));
      assert.deepEqual(held.flatMap((names) => [...names]).sort(), NAMES.toSorted());
    });

    it('stay with their holder while it lives, and say who that is', async (t) => {
      const [first, second] = (await holders(t, fast, fast)) as [Leases, Leases];
      assert.equal((await first.take(['one'])).size, 0);
      // Three times as long as the silence after which a holder is gone.
      for (const endMs = fast.now() + 30_000; fast.now() < endMs; await fast.sleep(500)) {
        const others = await second.take(NAMES);
        assert.deepEqual([...others.keys()], ['one']);
        assert.equal(others.get('one')?.pid, process.pid);
      }
      assert.equal((await first.take(['one'])).size, 0);
    });

    it('are free when they are given back, one or all', async (t) => {
      const [first, second] = (await holders(t, fast, fast)) as [Leases, Leases];
      await first.take(NAMES);
      await first.release('two');
      assert.deepEqual([...(await second.take(NAMES)).keys()].sort(), ['one', 'three']);
      await first.close();
      assert.equal((await second.take(NAMES)).size, 0);
      await first.release();
      assert.deepEqual(await second.held(), new Set(NAMES));
    });

    it('are taken many at a time, beside those that others hold', async (t) => {
      const many = Array.from({ length: 50 }, (_, index) => `lease ${index}`);
      const [first, second, third] = (await holders(t, fast, fast, fast)) as [Leases, Leases, Leases];
      assert.equal((await first.take(many.slice(0, 20))).size, 0);
      const others = await Promise.all([second.take(many), third.take(many)]);
      for (const name of many.slice(0, 20))
        assert.ok(
          others.every((held) => held.has(name)),
          name,
        );
      for (const name of many.slice(20)) assert.equal(others.filter((held) => !held.has(name)).length, 1, name);
      const held = await Promise.all([first, second, third].map((leases) => leases.held()));
      assert.deepEqual(held.flatMap((names) => [...names]).sort(), many.toSorted());
    });

    it('pass on from a holder that is silent, which finds out when it wakes', async (t) => {
      const { clock, suspend, wake } = suspendable();
      const [first, second] = (await holders(t, clock, fast)) as [Leases, Leases];
      await first.take(NAMES);
      suspend();
      await takeAtLast(second, ['one']);
      wake();
      assert.deepEqual(await first.held(), new Set());
      assert.deepEqual([...(await first.take(NAMES)).keys()], ['one']);
    });

    it('stay with a holder that has not been looked at for long', async (t) => {
      let skippedMs = 0;
      const skipping: Clock = { ...fast, now: () => fast.now() + skippedMs };
      const { clock, suspend, wake } = suspendable();
      // Before the holders are closed.
      t.after(wake);
      const [first, second] = (await holders(t, clock, skipping)) as [Leases, Leases];
      await first.take(['one']);
      suspend();
      assert.equal((await second.take(['one'])).size, 1);
      // As after an outage of the store, in which no process could beat.
      skippedMs = 3_600_000;
      assert.equal((await second.take(['one'])).size, 1);
    });

    it('are taken at last where the store was away at first', async (t) => {
      const store = await open(t);
      let isAway = true;
      const away = new PlatformError('unavailable', 'away');
      const leases = new Leases(
        withChanges(store, (work) => (isAway ? Promise.reject(away) : work())),
        'evaluation',
        fast,
      );
      await assertRefused(leases.take(['one']), 'unavailable', /away/);
      isAway = false;
      assert.equal((await leases.take(['one'])).size, 0);
      await leases.close();
    });

    it('of different kinds do not exclude each other', async (t) => {
      const store = await open(t);
      const kinds = (['measurement', 'evaluation'] as const).map((kind) => new Leases(store, kind, fast));
      for (const leases of kinds) assert.equal((await leases.take(['one'])).size, 0);
      for (const leases of kinds) await leases.close();
    });
  });
}
