import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OutageRetry } from '../../../src/store/mongodb/outage-retry.js';
import { FakeClock } from '../../base/fake-clock.js';
import { assertRefused, refusal } from '../../rpc/support/refusal.js';

class Away extends Error {}

function retrying(signal?: AbortSignal, giveUpAfterMs = 90_000) {
  const clock = new FakeClock();
  const warnings: string[] = [];
  const reconnectedMs: number[] = [];
  const retry = new OutageRetry({
    address: 'mongodb://db/results',
    warn: (message) => warnings.push(message),
    isPassing: (thrown) => thrown instanceof Away,
    giveUpAfterMs,
    reconnect: () => reconnectedMs.push(clock.now()),
    signal,
    // A sleep of the real clock ends as late as this after its signal.
    clock: { now: clock.now, sleep: (...asked) => clock.sleep(...asked).catch(() => undefined) },
  });
  return { clock, retry, warnings, reconnectedMs };
}

describe('requests to a store whose server goes away', { timeout: 60_000 }, () => {
  it('are answered when it comes back; the user hears of the wait once, however many requests wait', async () => {
    const { clock, retry, warnings } = retrying();
    const ask = (): Promise<number> => (clock.now() < 20_000 ? Promise.reject(new Away()) : Promise.resolve(7));
    const answers = Promise.all([retry.run(ask), retry.run(ask)]);
    await clock.advance(30_000);
    assert.deepEqual(await answers, [7, 7]);
    assert.deepEqual(warnings, [
      'The store mongodb://db/results does not answer; waiting for it, 90 s at most.',
      'The store mongodb://db/results answers again.',
    ]);
  });

  it('fail after its limit, those that are made later together with the first', async () => {
    const { clock, retry } = retrying();
    const away = (): Promise<never> => Promise.reject(new Away());
    const first = retry.run(away);
    first.catch(() => undefined);
    await clock.advance(80_000);
    const later = retry.run(away);
    later.catch(() => undefined);
    await clock.advance(15_000);
    await assertRefused(first, 'unavailable', /has not answered for 90 s/);
    await assertRefused(later, 'unavailable', /has not answered for 90 s/);
  });

  it('fail after its limit where it takes them and never answers, with a warning before', async () => {
    const { clock, retry, warnings } = retrying();
    const answer = retry.run(() => new Promise<never>(() => undefined));
    answer.catch(() => undefined);
    await clock.advance(5_000);
    assert.deepEqual(warnings, ['The store mongodb://db/results does not answer; waiting for it, 85 s at most.']);
    await clock.advance(85_000);
    await assertRefused(answer, 'unavailable');
  });

  it('fail at their first attempt after the limit, with a warning that names no wait', async () => {
    const { clock, retry, warnings } = retrying(undefined, 2_500);
    const answer = retry.run(() => clock.sleep(2_500).then(() => Promise.reject(new Away())));
    answer.catch(() => undefined);
    await clock.advance(2_500);
    await assert.rejects(answer, refusal('unavailable', /has not answered for 2\.5 s/));
    assert.deepEqual(warnings, ['The store mongodb://db/results does not answer.']);
  });

  it('are answered again after an outage that was longer than the limit', async () => {
    const { clock, retry, warnings } = retrying();
    const first = retry.run(() => Promise.reject(new Away()));
    first.catch(() => undefined);
    await clock.advance(100_000);
    await assertRefused(first, 'unavailable');
    const hanging = retry.run(() => new Promise<never>(() => undefined));
    hanging.catch(() => undefined);
    await clock.advance(5_000);
    await assertRefused(hanging, 'unavailable');
    const answer = retry.run(() => clock.sleep(4_000).then(() => 7));
    await clock.advance(4_000);
    assert.equal(await answer, 7);
    assert.equal(warnings.at(-1), 'The store mongodb://db/results answers again.');
  });

  it('get five seconds also where the limit is shorter: a server that answers late is there', async () => {
    const { clock, retry } = retrying(undefined, 500);
    const answer = retry.run(() => clock.sleep(4_000).then(() => 7));
    await clock.advance(4_000);
    assert.equal(await answer, 7);
  });

  it('are repeated where one has no answer for twice the time after which its connection is closed', async () => {
    const { clock, retry } = retrying();
    let attempts = 0;
    const answer = retry.run(() => (++attempts === 1 ? new Promise<never>(() => undefined) : Promise.resolve(7)));
    await clock.advance(50_200);
    assert.equal(await answer, 7);
  });

  it('are made by another client every ten seconds of an outage', async () => {
    const { clock, retry, reconnectedMs } = retrying();
    const ask = (): Promise<number> => (clock.now() < 35_000 ? Promise.reject(new Away()) : Promise.resolve(7));
    const answer = retry.run(ask);
    await clock.advance(40_000);
    assert.equal(await answer, 7);
    assert.deepEqual(
      reconnectedMs.map((atMs) => Math.floor(atMs / 5_000)),
      [2, 4, 6],
    );
  });

  it('are made a second time after an interruption, and then fail', async () => {
    const controller = new AbortController();
    const { clock, retry } = retrying(controller.signal);
    const askedMs: number[] = [];
    const answer = retry.run(() => {
      askedMs.push(clock.now());
      return Promise.reject(new Away());
    });
    answer.catch(() => undefined);
    await clock.advance(1_000);
    controller.abort();
    await assertRefused(answer, 'unavailable', /has not answered\./);
    // Pauses of 100, 200 and 400 ms; the fourth one is interrupted.
    assert.deepEqual(askedMs, [0, 100, 300, 700, 1000]);
  });

  it('wait for a silent server once after an interruption, and no longer for those that are made later', async () => {
    const controller = new AbortController();
    const { clock, retry } = retrying(controller.signal);
    controller.abort();
    const failed: string[] = [];
    const ask = (name: string) =>
      assert
        .rejects(
          retry.run(() => new Promise(() => undefined)),
          refusal('unavailable'),
        )
        .then(() => failed.push(name));
    const all = ask('first').then(() => Promise.all([ask('second'), ask('third')]));
    await clock.advance(1_900);
    assert.deepEqual(failed, []);
    await clock.advance(300);
    assert.deepEqual(failed, ['first', 'second', 'third']);
    await all;
  });

  it('get the same time after an interruption where those before were answered', async () => {
    const controller = new AbortController();
    const { clock, retry } = retrying(controller.signal);
    controller.abort();
    assert.equal(await retry.run(() => Promise.resolve(6)), 6);
    const answer = retry.run(() => clock.sleep(1_900).then(() => 7));
    answer.catch(() => undefined);
    await clock.advance(1_900);
    assert.equal(await answer, 7);
  });

  it('fail at once with what does not pass', async () => {
    const { clock, retry } = retrying();
    await assert.rejects(
      retry.run(() => Promise.reject(new Error('no permission'))),
      /no permission/,
    );
    assert.equal(clock.sleeping, 0);
  });
});
