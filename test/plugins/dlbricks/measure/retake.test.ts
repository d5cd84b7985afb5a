import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { disturbanceOf, isDisturbed, RetakeLimit, undisturbed } from '../../../../plugins/dlbricks/measure/retake.js';
import type { Measurement } from '../../../../src/measurement/measurement.js';
import { sampleMeasurement } from '../../../store/sample-measurement.js';

/** A second on two cores. */
function measuredBeside(othersMs: number, index = 0): Measurement {
  return sampleMeasurement(index, { conditions: { wallMs: 1000, cores: 2, othersMs, stealMs: 0 } });
}

async function takeFrom(
  measurements: readonly Measurement[],
  signal = new AbortController().signal,
  patience = new RetakeLimit(),
) {
  let taken = 0;
  const waits: number[] = [];
  const best = await undisturbed(() => Promise.resolve(measurements[taken++] ?? measuredBeside(0)), signal, {
    patience,
    wait: (ms) => Promise.resolve(void waits.push(ms)),
    onRetake: () => undefined,
  });
  return { best, taken, waits };
}

describe('a disturbance', () => {
  test('is what others took of the processors, of this machine and of the hypervisor', () => {
    assert.equal(disturbanceOf(measuredBeside(500)), 0.25);
    const conditions = { wallMs: 1000, cores: 2, othersMs: 100, stealMs: 300 };
    assert.equal(disturbanceOf(sampleMeasurement(0, { conditions })), 0.2);
  });

  test('is none where nobody knows, or too little was counted to be sure', () => {
    assert.equal(disturbanceOf(sampleMeasurement(0)), 0);
    const conditions = { wallMs: 20, cores: 2, othersMs: 20, stealMs: 0 };
    assert.equal(isDisturbed(sampleMeasurement(0, { conditions })), false);
  });
});

describe('what is measured undisturbed', () => {
  test('is taken once on a quiet machine', async () => {
    const quiet = measuredBeside(40, 1);
    assert.deepEqual(await takeFrom([quiet]), { best: quiet, taken: 1, waits: [] });
  });

  test('is taken again after a wait, until nobody disturbs', async () => {
    const { best, taken, waits } = await takeFrom([measuredBeside(900), measuredBeside(800), measuredBeside(10, 7)]);
    assert.equal(taken, 3);
    assert.deepEqual(best, measuredBeside(10, 7));
    assert.ok(waits.length === 2 && (waits[0] ?? 0) < (waits[1] ?? 0));
  });

  test('is the least disturbed of four on a machine that never rests, whatever came out', async () => {
    const noisy = [900, 500, 700, 800].map((othersMs, index) => measuredBeside(othersMs, index));
    const { best, taken } = await takeFrom(noisy);
    assert.equal(taken, 4);
    assert.deepEqual(best, noisy[1]);
  });

  test('is taken again in vain for two measurements, and then no more', async () => {
    const patience = new RetakeLimit();
    const never = new AbortController().signal;
    const noisy = Array.from({ length: 4 }, () => measuredBeside(900));
    const taken = [];
    for (let i = 0; i < 4; i++) taken.push((await takeFrom(noisy, never, patience)).taken);
    assert.deepEqual(taken, [4, 4, 1, 1]);
  });

  test('is not taken again after an interruption', async () => {
    const { taken } = await takeFrom([measuredBeside(900)], AbortSignal.abort());
    assert.equal(taken, 1);
  });
});
