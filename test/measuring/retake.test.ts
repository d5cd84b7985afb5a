import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RetakeLimit, undisturbed } from '../../src/measuring/retake.js';
import type { Measurement } from '../../src/measurement/measurement.js';
import type { MeasuredRequest } from '../../src/agent/benchmark-agent.js';
import { PlatformError } from '../../src/base/errors.js';
import { measuredBeside } from '../store/measured-beside.js';
import { assertRefused } from '../rpc/support/refusal.js';

/** Runs `undisturbed` on benchmarks, where benchmark i yields the measurements `series[i]` in order. */
async function takeFrom(
  series: readonly (readonly Measurement[])[],
  signal = new AbortController().signal,
  limit = new RetakeLimit(),
  onWait = (): void => undefined,
) {
  const taken = series.map(() => 0);
  const [waits, retaken, shares]: [number[], number[], number[]] = [[], [], []];
  async function* take(indices: readonly number[]): AsyncGenerator<MeasuredRequest> {
    for (const index of indices) {
      const nth = taken[index] ?? 0;
      taken[index] = nth + 1;
      yield await Promise.resolve({ index, measurement: series[index]?.[nth] ?? measuredBeside(0) });
    }
  }
  const best = new Map<number, Measurement>();
  const final: number[] = [];
  const settings = {
    limit,
    signal,
    wait: (ms: number) => {
      waits.push(ms);
      onWait();
      return Promise.resolve();
    },
    onRetake: (measurements: number, share: number) => {
      retaken.push(measurements);
      shares.push(share);
    },
  };
  for await (const { index, measurement } of undisturbed([...series.keys()], take, settings)) {
    best.set(index, measurement);
    final.push(index);
  }
  return { best, final, taken, waits, retaken, shares };
}

describe('a measurement', () => {
  test('is taken once on a quiet machine', async () => {
    const quiet = measuredBeside(40, 1);
    const { best, taken, waits } = await takeFrom([[quiet]]);
    assert.deepEqual([best.get(0), taken, waits], [quiet, [1], []]);
  });

  test('is taken again after a wait, until no other process disturbs it', async () => {
    const { best, taken, waits } = await takeFrom([[measuredBeside(900), measuredBeside(800), measuredBeside(10, 7)]]);
    assert.deepEqual(taken, [3]);
    assert.deepEqual(best.get(0), measuredBeside(10, 7));
    assert.ok(waits.length === 2 && (waits[0] ?? 0) < (waits[1] ?? 0));
  });

  test('is the least disturbed of four on a machine that stays busy, regardless of the latency', async () => {
    const noisy = [900, 500, 700, 800].map((othersMs, index) => measuredBeside(othersMs, index));
    const { best, taken } = await takeFrom([noisy]);
    assert.deepEqual(taken, [4]);
    assert.deepEqual(best.get(0), noisy[1]);
  });

  test('among several, is taken again only if it was disturbed, and is yielded each time that it is better', async () => {
    const noisy = [measuredBeside(900, 1), measuredBeside(10, 2)];
    const { best, final, taken, retaken } = await takeFrom([[measuredBeside(0, 3)], noisy, [measuredBeside(0, 4)]]);
    assert.deepEqual(taken, [1, 2, 1]);
    assert.deepEqual(final, [0, 1, 2, 1]);
    assert.deepEqual(best.get(1), noisy[1]);
    assert.deepEqual(retaken, [1]);
  });

  test('is yielded at once even if it is disturbed, so that no interruption loses it; again only if it is better', async () => {
    const { final } = await takeFrom([[900, 900, 950, 950].map((ms) => measuredBeside(ms))]);
    assert.deepEqual(final, [0]);
  });

  test('is taken again only once if all of several measurements stay disturbed', async () => {
    const never = Array.from({ length: 4 }, () => measuredBeside(900));
    assert.deepEqual((await takeFrom([never, never])).taken, [2, 2]);
    const soon = [measuredBeside(900), measuredBeside(0)];
    assert.deepEqual((await takeFrom([never, soon])).taken, [4, 2]);
  });

  test('is not taken again any more after two series in which no retake helped', async () => {
    const limit = new RetakeLimit();
    const never = new AbortController().signal;
    const noisy = Array.from({ length: 4 }, () => measuredBeside(900));
    const taken = [];
    for (let i = 0; i < 4; i++) taken.push(...(await takeFrom([noisy], never, limit)).taken);
    assert.deepEqual(taken, [4, 4, 1, 1]);
  });

  test('is taken again after growing waits: 0.5, 2 and 4 seconds', async () => {
    const never = Array.from({ length: 4 }, () => measuredBeside(900));
    assert.deepEqual((await takeFrom([never])).waits, [500, 2000, 4000]);
  });

  test('is announced with the largest disturbed share of the series', async () => {
    const { shares } = await takeFrom([[measuredBeside(600)], [measuredBeside(900)]]);
    assert.deepEqual(shares, [0.45]);
  });

  test('in a series that becomes quiet does not count as a failed retake', async () => {
    const limit = new RetakeLimit();
    const { signal } = new AbortController();
    const noisy = [measuredBeside(900)];
    for (let i = 0; i < 3; i++) assert.deepEqual((await takeFrom([noisy], signal, limit)).taken, [2]);
  });

  test('is not taken again if the interruption comes during the wait', async () => {
    const controller = new AbortController();
    const wait = (): void => controller.abort();
    const { taken } = await takeFrom([[measuredBeside(900)]], controller.signal, new RetakeLimit(), wait);
    assert.deepEqual(taken, [1]);
  });

  test('is not waited for any longer after an interruption', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const take = async function* (): AsyncGenerator<MeasuredRequest> {
      yield await Promise.resolve({ index: 0, measurement: measuredBeside(900) });
    };
    const onRetake = (): void => void nextTurn().then(() => controller.abort());
    const taking = (async () => {
      for await (const taken of undisturbed([0], take, { limit: new RetakeLimit(), signal, onRetake })) void taken;
      return 'ended';
    })();
    const turnAfter = once(signal, 'abort').then(() => nextTurn('still waiting'));
    assert.equal(await Promise.race([taking, turnAfter]), 'ended');
  });

  test('is not taken again after an interruption, and is yielded as it is', async () => {
    const { taken, best } = await takeFrom([[measuredBeside(900)]], AbortSignal.abort());
    assert.deepEqual(taken, [1]);
    assert.deepEqual(best.get(0), measuredBeside(900));
  });

  test('stays as it is if taking it again fails', async () => {
    const out: Measurement[] = [];
    let calls = 0;
    const take = async function* (): AsyncGenerator<MeasuredRequest> {
      if (calls++ > 0) throw new PlatformError('unavailable', 'the agent does not answer');
      yield await Promise.resolve({ index: 0, measurement: measuredBeside(900) });
    };
    const { signal } = new AbortController();
    const settings = { limit: new RetakeLimit(), signal, wait: () => Promise.resolve(), onRetake: () => undefined };
    const taking = (async () => {
      for await (const { measurement } of undisturbed([0], take, settings)) out.push(measurement);
    })();
    await assertRefused(taking, 'unavailable');
    assert.deepEqual(out, [measuredBeside(900)]);
  });
});
