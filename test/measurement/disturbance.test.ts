import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { disturbanceOf, isCoreShared, isDisturbed } from '../../src/measurement/disturbance.js';
import type { Measurement } from '../../src/measurement/measurement.js';
import { sampleMeasurement } from '../store/sample-measurement.js';

/** A second on two cores. */
function measuredBeside(othersMs: number): Measurement {
  return sampleMeasurement(0, { conditions: { wallMs: 1000, cores: 2, othersMs, stealMs: 0 } });
}

describe('a disturbance', () => {
  test('is what others took of the processors, of this machine and of the hypervisor', () => {
    assert.equal(disturbanceOf(measuredBeside(500)), 0.25);
    const conditions = { wallMs: 1000, cores: 2, othersMs: 100, stealMs: 300 };
    assert.equal(disturbanceOf(sampleMeasurement(0, { conditions })), 0.2);
  });

  test('is none where it is unknown, or too little was counted to be sure', () => {
    assert.equal(disturbanceOf(sampleMeasurement(0)), 0);
    const conditions = { wallMs: 20, cores: 2, othersMs: 20, stealMs: 0 };
    assert.equal(isDisturbed(sampleMeasurement(0, { conditions })), false);
  });

  test('of one kind counts as it is where the other one is unknown', () => {
    const of = (conditions: { readonly othersMs?: number; readonly stealMs?: number }): number =>
      disturbanceOf(sampleMeasurement(0, { conditions: { wallMs: 1000, cores: 1, ...conditions } }));
    assert.deepEqual([of({ othersMs: 200 }), of({ stealMs: 200 })], [0.2, 0.2]);
  });

  // MOST_OTHERS_SHARE: a tenth of two cores in a second is 200 ms.
  test('counts from more than a tenth of the processors on', () => {
    assert.deepEqual(
      [200, 201].map((othersMs) => isDisturbed(measuredBeside(othersMs))),
      [false, true],
    );
  });

  test('of a failure is none: it has no latency', () => {
    const outcome = { kind: 'failure', reason: 'unsupported', message: '' } as const;
    assert.equal(isDisturbed({ ...measuredBeside(2000), outcome }), false);
  });

  // LEAST_OTHERS_MS: three ticks of 10 ms, in which the operating system counts.
  test('counts from three ticks on', () => {
    const isDisturbedBy = (othersMs: number): boolean => {
      const conditions = { wallMs: 50, cores: 1, othersMs };
      return isDisturbed(sampleMeasurement(0, { conditions }));
    };
    assert.deepEqual([20, 29, 30].map(isDisturbedBy), [false, false, true]);
  });

  // MOST_OTHERS_SHARE as well: with at least ten runs of a model, two of them.
  test('is a core shared with another machine during more than a tenth of the samples', () => {
    const sharedDuring = (sharedShare: number): Measurement => {
      return sampleMeasurement(0, { conditions: { wallMs: 1000, cores: 2, othersMs: 0, sharedShare, droppedRuns: 7 } });
    };
    assert.deepEqual([0.1, 0.11].map(sharedDuring).map(isDisturbed), [false, true]);
    assert.deepEqual([0.1, 0.11].map(sharedDuring).map(isCoreShared), [false, true]);
    assert.equal(disturbanceOf(sharedDuring(0.4)), 0.4);
    assert.equal(isCoreShared(measuredBeside(2000)), false);
  });
});
