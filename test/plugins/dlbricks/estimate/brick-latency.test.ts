import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  brickLatency,
  callLatency,
  observationsOf,
  spreadBetweenOccasions,
} from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import type { Measurement } from '../../../../src/measurement/measurement.js';
import { PROTOCOL, sampleMeasurement, signatureOf } from '../../../store/sample-measurement.js';
import {
  CALL_MS,
  COPIES,
  crashed,
  measuredBrick,
  measuredCall,
  measuredOn,
  type OnOccasion,
  recipeOf,
} from '../support/measured-bricks.js';

function near(actual: number | undefined, expected: number): void {
  assert.ok(actual !== undefined && Math.abs(actual - expected) <= 1e-9, `${actual} is not ${expected}`);
}

const recipe = recipeOf([1]);
const [brick = assert.fail()] = recipe.bricks;

/** What is known of a brick after these occasions; the reason where nothing is. */
function latencyAfter(...occasions: readonly OnOccasion[]) {
  return brickLatency(brick, observationsOf([measuredCall, ...measuredBrick(0, ...occasions)]));
}

describe('observations', () => {
  test('are in the order of their occasions, whatever order they come in', () => {
    const [first, second, third] = measuredBrick(0, 1, 2, 3);
    assert.ok(first !== undefined && second !== undefined && third !== undefined);
    const observations = observationsOf([third, measuredCall, first, second]);
    assert.deepEqual(observations.get(first.signature), [first, second, third]);
    assert.deepEqual(observations.get(measuredCall.signature), [measuredCall]);
  });
});

describe('a brick on several occasions', () => {
  test('takes their mean, and keeps each', () => {
    const latency = latencyAfter(10, 12, 11);
    assert.ok(typeof latency === 'object');
    near(latency.ms, 11);
    assert.deepEqual(latency.occasionsMs, [10, 12, 11]);
    assert.deepEqual([latency.runs, latency.costMs], [15, 300]);
  });

  test('is known within runs as well as a mean of independent ones', () => {
    const noisy = [9, 10, 11, 9.5, 10.5];
    const [once, four] = [latencyAfter(noisy), latencyAfter(noisy, noisy, noisy, noisy)];
    assert.ok(typeof once === 'object' && typeof four === 'object');
    near(four.within.standardErrorMs, (once.within.standardErrorMs ?? NaN) / 2);
    assert.equal(four.within.degreesOfFreedom, 4 * once.within.degreesOfFreedom);
  });

  test('of which one had a single run says nothing about the spread of runs', () => {
    const latency = latencyAfter(10, [11]);
    assert.ok(typeof latency === 'object');
    assert.equal(latency.within.standardErrorMs, undefined);
    near(latency.ms, 10.5);
  });

  test('of which some failed counts those that did not, and what they cost', () => {
    for (const occasions of [
      [10, crashed, 12],
      [crashed, 10, 12],
      [10, 12, crashed],
    ]) {
      const latency = latencyAfter(...occasions);
      assert.ok(typeof latency === 'object');
      near(latency.ms, 11);
      assert.deepEqual([latency.occasionsMs, latency.runs, latency.costMs], [[10, 12], 10, 200]);
    }
  });

  test('of which all failed has none, for the reason of the first', () => {
    assert.equal(
      latencyAfter(crashed, { kind: 'failure', reason: 'timeout', message: 'too late' }),
      'crashed: signal 11',
    );
    assert.equal(latencyAfter(), 'not measured on this system');
  });

  test('has none without the call that is subtracted', () => {
    assert.equal(brickLatency(brick, observationsOf(measuredBrick(0, 10, 11))), 'not measured on this system');
  });

  test('that was measured on its own is known from its own measurements', () => {
    const alone = sampleMeasurement(0, { outcome: { kind: 'samples', runMs: [3, 3, 3, 3, 3], warmupMs: [] } });
    const latency = brickLatency({ signature: signatureOf(0), operators: [] }, observationsOf([alone]));
    assert.ok(typeof latency === 'object');
    near(latency.ms, 3);
  });
});

describe('an empty call on several occasions', () => {
  test('takes the mean of those that did not fail', () => {
    const { signature } = measuredCall;
    const later = { ...measuredCall, protocol: { ...PROTOCOL, occasion: 3 } };
    const slower: Measurement = { ...later, outcome: { kind: 'samples', runMs: [3, 3, 3, 3, 3], warmupMs: [] } };
    const failed = { ...measuredCall, protocol: { ...PROTOCOL, occasion: 2 }, outcome: crashed };
    const latency = callLatency(signature, observationsOf([measuredCall, failed, slower]));
    assert.ok(typeof latency === 'object');
    near(latency.ms, (CALL_MS + 3) / 2);
    assert.equal(callLatency(signature, observationsOf([failed])), 'crashed: signal 11');
  });
});

describe('the spread between occasions', () => {
  // Of two occasions at 1 - d and 1 + d times their mean, the variance is 2 d².
  const apart = (ms: number, d: number): readonly number[] => [ms * (1 - d), ms * (1 + d)];

  test('is not known where nothing was measured twice', () => {
    const once = observationsOf([measuredCall, ...measuredBrick(0, 10), ...measuredBrick(1, 5, crashed)]);
    assert.equal(spreadBetweenOccasions([recipeOf([1, 1])], once), undefined);
  });

  test('of one brick is the standard deviation of its occasions, with one degree of freedom for two', () => {
    const observations = observationsOf([measuredCall, ...measuredBrick(0, ...apart(10, 0.03))]);
    const spread = spreadBetweenOccasions([recipe], observations);
    near(spread?.relative, Math.SQRT2 * 0.03);
    near(spread?.degreesOfFreedom, 1);
  });

  test('counts a brick by the time that it takes in the models together', () => {
    const observations = observationsOf([
      measuredCall,
      ...measuredBrick(0, ...apart(1, 0.1)),
      ...measuredBrick(1, ...apart(10, 0.01)),
      ...measuredBrick(2, 7),
    ]);
    // Brick 0: 3 + 5 times 1 ms; brick 1: 2 times 10 ms.
    const spread = spreadBetweenOccasions([recipeOf([3, 2, 4]), recipeOf([5, 0, 1])], observations);
    const [ofFirst, ofSecond] = [8, 20];
    near(spread?.relative, Math.sqrt((2 * (ofFirst * 0.1 ** 2 + ofSecond * 0.01 ** 2)) / (ofFirst + ofSecond)));
    near(spread?.degreesOfFreedom, (ofFirst + ofSecond) ** 2 / (ofFirst ** 2 + ofSecond ** 2));
  });

  test('leaves out what takes no time beyond the call', () => {
    const nothing = measuredBrick(1, 0, [0, -0.1, 0, 0, -0.1]);
    const observations = observationsOf([measuredCall, ...measuredBrick(0, ...apart(10, 0.02)), ...nothing]);
    near(spreadBetweenOccasions([recipeOf([1, 50])], observations)?.relative, Math.SQRT2 * 0.02);
  });

  test('keeps a brick in one context apart from the same in another', () => {
    const alike = [8, 8].map((ms, index) => measuredOn(index + 1, 0, ms, { copies: 2 * COPIES }));
    const observations = observationsOf([measuredCall, ...measuredBrick(0, ...apart(8, 0.04)), ...alike]);
    const spread = spreadBetweenOccasions([recipe, recipeOf([1], { copies: 2 * COPIES })], observations);
    near(spread?.relative, Math.SQRT2 * 0.04 * Math.SQRT1_2);
    near(spread?.degreesOfFreedom, 2);
  });
});
