import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { disturbanceOf, disturbanceText, isCoreShared, isDisturbed } from '../../src/measurement/disturbance.js';
import type { Measurement } from '../../src/measurement/measurement.js';
import { measuredBeside } from '../store/measured-beside.js';
import { sampleMeasurement } from '../store/sample-measurement.js';

describe('a disturbance', () => {
  test('is the share of processor time that other processes and the hypervisor took', () => {
    assert.equal(disturbanceOf(measuredBeside(500)), 0.25);
    const conditions = { wallMs: 1000, cores: 2, othersMs: 100, stealMs: 300 };
    assert.equal(disturbanceOf(sampleMeasurement(0, { conditions })), 0.2);
  });

  test('is not known without conditions, and does not count where the counted time is too short', () => {
    assert.equal(disturbanceOf(sampleMeasurement(0)), undefined);
    assert.equal(disturbanceText(sampleMeasurement(0)), '-');
    assert.equal(disturbanceText(measuredBeside(500)), '25 %');
    assert.equal(isDisturbed(sampleMeasurement(0)), false);
    const conditions = { wallMs: 20, cores: 2, othersMs: 20, stealMs: 0 };
    assert.equal(isDisturbed(sampleMeasurement(0, { conditions })), false);
  });

  test('of one kind counts alone where the other kind is unknown', () => {
    const of = (conditions: { readonly othersMs?: number; readonly stealMs?: number }): number | undefined =>
      disturbanceOf(sampleMeasurement(0, { conditions: { wallMs: 1000, cores: 1, ...conditions } }));
    assert.deepEqual([of({ othersMs: 200 }), of({ stealMs: 200 })], [0.2, 0.2]);
  });

  // MAX_OTHERS_SHARE: a tenth of two cores in a second is 200 ms.
  test('counts if it is more than a tenth of the processor time', () => {
    assert.deepEqual(
      [200, 201].map((othersMs) => isDisturbed(measuredBeside(othersMs))),
      [false, true],
    );
  });

  test('does not count for a failure, which has no latency', () => {
    const outcome = { kind: 'failure', reason: 'unsupported', message: '' } as const;
    assert.equal(isDisturbed({ ...measuredBeside(2000), outcome }), false);
  });

  // MIN_OTHERS_MS: three ticks of 10 ms. The operating system counts in ticks.
  test('counts from three ticks on', () => {
    const isDisturbedBy = (othersMs: number): boolean => {
      const conditions = { wallMs: 50, cores: 1, othersMs };
      return isDisturbed(sampleMeasurement(0, { conditions }));
    };
    assert.deepEqual([20, 29, 30].map(isDisturbedBy), [false, false, true]);
  });

  // MAX_OTHERS_SHARE is the limit here too: in ten runs of a model, two of them exceed it.
  test('includes a core shared with another machine during more than a tenth of the samples', () => {
    const sharedDuring = (sharedShare: number): Measurement => {
      return sampleMeasurement(0, { conditions: { wallMs: 1000, cores: 2, othersMs: 0, sharedShare, droppedRuns: 7 } });
    };
    assert.deepEqual([0.1, 0.11].map(sharedDuring).map(isDisturbed), [false, true]);
    assert.deepEqual([0.1, 0.11].map(sharedDuring).map(isCoreShared), [false, true]);
    assert.equal(disturbanceOf(sharedDuring(0.4)), 0.4);
    assert.equal(isCoreShared(measuredBeside(2000)), false);
  });
});
