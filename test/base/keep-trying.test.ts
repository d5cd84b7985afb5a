import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keepGoing, keepTrying, type KeepTryingOptions } from '../../src/base/keep-trying.js';
import { assertRefused } from '../rpc/support/refusal.js';
import { FakeClock } from './fake-clock.js';

class Passing extends Error {}

function optionsWith(clock: FakeClock, changes: Partial<KeepTryingOptions> = {}): KeepTryingOptions {
  const isPassing = (thrown: unknown): boolean => thrown instanceof Passing;
  return { firstPauseMs: 100, longestPauseMs: 1000, isPassing, clock, ...changes };
}

/** An attempt that fails the given number of times and then succeeds, and the times of its calls. */
function failing(clock: FakeClock, failures: number) {
  const calledMs: number[] = [];
  const attempt = (): Promise<string> => {
    calledMs.push(clock.now());
    return calledMs.length <= failures ? Promise.reject(new Passing()) : Promise.resolve('done');
  };
  return { attempt, calledMs };
}

describe('keepTrying', { timeout: 60_000 }, () => {
  it('makes one attempt where that succeeds, and does not wait', async () => {
    const clock = new FakeClock();
    const { attempt, calledMs } = failing(clock, 0);
    assert.equal(await keepTrying(attempt, optionsWith(clock)), 'done');
    assert.deepEqual(calledMs, [0]);
  });

  it('doubles its pauses up to the longest', async () => {
    const clock = new FakeClock();
    const { attempt, calledMs } = failing(clock, 6);
    const done = keepTrying(attempt, optionsWith(clock));
    await clock.advance(10_000);
    assert.equal(await done, 'done');
    // 100, 200, 400 and 800 ms, then 1000 ms each.
    assert.deepEqual(calledMs, [0, 100, 300, 700, 1500, 2500, 3500]);
  });

  it('throws an error that does not pass at once', async () => {
    const clock = new FakeClock();
    await assert.rejects(
      keepTrying(() => Promise.reject(new Error('wrong password')), optionsWith(clock)),
      /wrong password/,
    );
    assert.equal(clock.sleeping, 0);
  });

  it('throws the first failure after the limit, which counts from the first failure of all', async () => {
    const clock = new FakeClock();
    const calledMs: number[] = [];
    const slow = async (): Promise<void> => {
      calledMs.push(clock.now());
      await clock.sleep(5000);
      throw new Passing(`failure ${calledMs.length}`);
    };
    const done = keepTrying(slow, optionsWith(clock, { firstPauseMs: 1000, limitMs: 10_000 }));
    done.catch(() => undefined);
    await clock.advance(60_000);
    await assert.rejects(done, /failure 3/);
    assert.deepEqual(calledMs, [0, 6000, 12_000]);
  });

  it('starts again after an answer: with the first pause, a new limit and a new first failure', async () => {
    const clock = new FakeClock();
    const seen: (readonly [boolean, number])[] = [];
    let calls = 0;
    const attempt = async (answers: () => void): Promise<void> => {
      if (++calls === 3) {
        answers();
        await clock.sleep(60_000);
      }
      if (calls < 5) throw new Passing();
    };
    const options = optionsWith(clock, {
      limitMs: 1000,
      onFailure: ({ isFirst, pauseMs }) => seen.push([isFirst, pauseMs]),
    });
    const done = keepTrying(attempt, options);
    await clock.advance(120_000);
    await done;
    assert.deepEqual(seen, [
      [true, 100],
      [false, 200],
      [true, 100],
      [false, 200],
    ]);
  });

  it('ends with the cancellation when the signal aborts in a pause', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const { attempt, calledMs } = failing(clock, 100);
    const done = keepTrying(attempt, optionsWith(clock, { signal: controller.signal }));
    done.catch(() => undefined);
    await clock.advance(50);
    controller.abort();
    await assertRefused(done, 'cancelled');
    assert.deepEqual(calledMs, [0]);
  });

  it('ends with the cancellation where an attempt fails because of the abort', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const attempt = (): Promise<never> => {
      controller.abort();
      return Promise.reject(new Passing());
    };
    await assertRefused(keepTrying(attempt, optionsWith(clock, { signal: controller.signal })), 'cancelled');
  });
});

describe('keepGoing', { timeout: 60_000 }, () => {
  it('ends without an error when the signal aborts', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const { attempt, calledMs } = failing(clock, 100);
    const done = keepGoing(async () => void (await attempt()), {
      ...optionsWith(clock),
      signal: controller.signal,
    });
    await clock.advance(350);
    controller.abort();
    await done;
    assert.deepEqual(calledMs, [0, 100, 300]);
  });

  it('throws an error that does not pass', async () => {
    const clock = new FakeClock();
    const { signal } = new AbortController();
    const refused = keepGoing(() => Promise.reject(new Error('refused')), { ...optionsWith(clock), signal });
    await assert.rejects(refused, /refused/);
  });
});
