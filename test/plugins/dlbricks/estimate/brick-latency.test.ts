import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { failureText } from '../../../../plugins/dlbricks/estimate/failure-text.js';
import {
  brickLatency,
  callLatency,
  handingOverLatency,
  spreadBetweenOccasions,
} from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import { observationsOf } from '../../../../plugins/dlbricks/estimate/observations.js';
import type { Measurement } from '../../../../src/measurement/measurement.js';
import { sampleMeasurement, signatureOf } from '../../../store/sample-measurement.js';
import {
  CALL_MS,
  COPIES,
  crashed,
  measuredBrick,
  measuredCall,
  measuredOn,
  measuredTogetherOn,
  type OnOccasion,
  recipeOf,
  recipeTogether,
  surrounded,
} from '../support/measured-bricks.js';
import { near } from '../../../support/near.js';

const recipe = recipeOf([1]);
const [brick = assert.fail()] = recipe.bricks;

/** The latency of a brick after these occasions. */
function latencyAfter(...occasions: readonly OnOccasion[]) {
  return brickLatency(brick, undefined, observationsOf([measuredCall, ...measuredBrick(0, ...occasions)]));
}

function unknown(reason: string) {
  return { kind: 'unknown', reason };
}

describe('a brick on several occasions', () => {
  test('has their mean as its latency, and keeps each', () => {
    const latency = latencyAfter(10, 12, 11);
    assert.ok(latency.kind === 'known');
    near(latency.ms, 11);
    assert.deepEqual(latency.occasionsMs, [10, 12, 11]);
    assert.deepEqual([latency.runs, latency.costMs], [15, 300]);
  });

  test('has the standard error within runs of a mean of independent occasions', () => {
    const noisy = [9, 10, 11, 9.5, 10.5];
    const [once, four] = [latencyAfter(noisy), latencyAfter(noisy, noisy, noisy, noisy)];
    assert.ok(once.kind === 'known' && four.kind === 'known');
    near(four.within.standardErrorMs, (once.within.standardErrorMs ?? NaN) / 2);
    // Five values, three of which are kept.
    assert.equal(once.within.degreesOfFreedom, 2);
    assert.equal(four.within.degreesOfFreedom, 4 * once.within.degreesOfFreedom);
  });

  test('has no standard error within runs if one of them had a single run', () => {
    const latency = latencyAfter(10, [11]);
    assert.ok(latency.kind === 'known');
    assert.equal(latency.within.standardErrorMs, undefined);
    near(latency.ms, 10.5);
  });

  test('counts only those that did not fail, with their cost', () => {
    for (const occasions of [
      [10, crashed, 12],
      [crashed, 10, 12],
      [10, 12, crashed],
    ]) {
      const latency = latencyAfter(...occasions);
      assert.ok(latency.kind === 'known');
      near(latency.ms, 11);
      assert.deepEqual([latency.occasionsMs, latency.runs, latency.costMs], [[10, 12], 10, 200]);
    }
  });

  test('has no latency if all of them failed, for the reason of the first', () => {
    const late = { kind: 'failure', reason: 'timeout', message: 'too late' } as const;
    assert.deepEqual(latencyAfter(crashed, late), unknown(failureText(crashed)));
    assert.deepEqual(latencyAfter(), unknown('not measured on this system'));
  });

  test('has no latency without the call that is subtracted', () => {
    const withoutCall = observationsOf(measuredBrick(0, 10, 11));
    assert.deepEqual(brickLatency(brick, undefined, withoutCall), unknown('not measured on this system'));
  });

  test('has the latency of its own measurements if it was measured alone', () => {
    const alone = sampleMeasurement(0, { outcome: { kind: 'samples', runMs: [3, 3, 3, 3, 3], warmupMs: [] } });
    const latency = brickLatency({ signature: signatureOf(0), operators: [] }, undefined, observationsOf([alone]));
    assert.ok(latency.kind === 'known');
    near(latency.ms, 3);
  });
});

describe('a brick that is measured together with others', () => {
  const { recipe: together, context } = surrounded(recipeTogether([1]));
  const [one = assert.fail()] = together.bricks;

  test('uses only measurements in its context, and needs no call', () => {
    const [here, elsewhere] = [measuredTogetherOn(1, 0, 2), measuredTogetherOn(1, 0, 7, { footprintBytes: 2 ** 22 })];
    const latency = brickLatency(one, context, observationsOf([here, elsewhere, sampleMeasurement(0)]));
    assert.ok(latency.kind === 'known');
    assert.deepEqual(latency.occasionsMs, [2]);
    assert.deepEqual(
      brickLatency(one, context, observationsOf([elsewhere, sampleMeasurement(0)])),
      unknown('not measured on this system'),
    );
  });

  test('subtracts the overhead from each occasion, and keeps the spread of its runs', () => {
    const noisy = [9, 10, 11, 9.5, 10.5];
    const { outcome, ...rest } = measuredTogetherOn(1, 0, noisy);
    assert.ok(outcome.kind === 'samples');
    const { overheadMs, ...unwatched } = outcome;
    const watched = brickLatency(one, context, observationsOf([{ ...rest, outcome }]));
    const withCost = brickLatency(one, context, observationsOf([{ ...rest, outcome: unwatched }]));
    assert.ok(watched.kind === 'known' && withCost.kind === 'known');
    near(watched.ms, 10);
    near(withCost.ms, 10 + (overheadMs ?? NaN));
    assert.equal(watched.within.standardErrorMs, withCost.within.standardErrorMs);
  });

  test('has a latency of 0, not less, if it takes less than the overhead', () => {
    const latency = brickLatency(one, context, observationsOf([measuredTogetherOn(1, 0, -0.1)]));
    assert.ok(latency.kind === 'known');
    assert.equal(latency.ms, 0);
  });
});

describe('an empty call on several occasions', () => {
  test('has the mean of those that did not fail', () => {
    const { signature } = measuredCall;
    const later = { ...measuredCall, occasion: 3 };
    const slower: Measurement = { ...later, outcome: { kind: 'samples', runMs: [3, 3, 3, 3, 3], warmupMs: [] } };
    const failed = { ...measuredCall, occasion: 2, outcome: crashed };
    const latency = callLatency(signature, observationsOf([measuredCall, failed, slower]));
    assert.ok(latency.kind === 'known');
    near(latency.within.ms, (CALL_MS + 3) / 2);
    assert.deepEqual(callLatency(signature, observationsOf([failed])), unknown(failureText(crashed)));
  });
});

describe('handing over outputs', () => {
  const [leaving, staying] = [signatureOf(50), signatureOf(51)];
  const taking = (index: number, runMs: number[]): Measurement => {
    return sampleMeasurement(index, { outcome: { kind: 'samples', runMs, warmupMs: [] } });
  };
  const latencyOf = (...measurements: readonly Measurement[]) => {
    return handingOverLatency({ leaving, staying }, observationsOf(measurements));
  };
  const noisy = [4.5, 4.75, 5, 5.25, 5.5];

  test('takes the difference between the call with it and the call without it, with the uncertainty of both', () => {
    const latency = latencyOf(
      taking(50, noisy),
      taking(
        51,
        noisy.map((ms) => ms - 3),
      ),
    );
    assert.ok(latency.kind === 'known');
    near(latency.within.ms, 3);
    const alone = callLatency(leaving, observationsOf([taking(50, noisy)]));
    assert.ok(alone.kind === 'known');
    near(latency.within.standardErrorMs, (alone.within.standardErrorMs ?? NaN) * Math.SQRT2);
  });

  test('takes no time if the call without it takes longer', () => {
    const latency = latencyOf(taking(50, [1, 1, 1]), taking(51, [2, 2, 2]));
    assert.ok(latency.kind === 'known');
    assert.equal(latency.within.ms, 0);
  });

  test('is unknown if one of the two calls is unknown', () => {
    const failed = { ...taking(51, []), outcome: crashed };
    assert.deepEqual(latencyOf(taking(50, noisy)), unknown('not measured on this system'));
    assert.deepEqual(latencyOf(taking(51, noisy)), unknown('not measured on this system'));
    assert.deepEqual(latencyOf(taking(50, noisy), failed), unknown(failureText(crashed)));
  });
});

describe('the spread between occasions', () => {
  // Of two occasions at 1 - d and 1 + d times their mean, the variance is 2 d².
  const apart = (ms: number, d: number): readonly number[] => [ms * (1 - d), ms * (1 + d)];

  test('is unknown if nothing was measured twice', () => {
    const once = observationsOf([measuredCall, ...measuredBrick(0, 10), ...measuredBrick(1, 5, crashed)]);
    assert.equal(spreadBetweenOccasions([surrounded(recipeOf([1, 1]))], once), undefined);
  });

  test('of one brick is the standard deviation of its occasions, with one degree of freedom for two', () => {
    const observations = observationsOf([measuredCall, ...measuredBrick(0, ...apart(10, 0.03))]);
    const spread = spreadBetweenOccasions([surrounded(recipe)], observations);
    near(spread?.relative, Math.SQRT2 * 0.03);
    near(spread?.degreesOfFreedom, 1);
  });

  test('weights a brick by its time in all models together', () => {
    const observations = observationsOf([
      measuredCall,
      ...measuredBrick(0, ...apart(1, 0.1)),
      ...measuredBrick(1, ...apart(10, 0.01)),
      ...measuredBrick(2, 7),
    ]);
    // Brick 0: 3 + 5 times 1 ms; brick 1: 2 times 10 ms.
    const spread = spreadBetweenOccasions([recipeOf([3, 2, 4]), recipeOf([5, 0, 1])].map(surrounded), observations);
    const [ofFirst, ofSecond] = [8, 20];
    near(spread?.relative, Math.sqrt((2 * (ofFirst * 0.1 ** 2 + ofSecond * 0.01 ** 2)) / (ofFirst + ofSecond)));
    near(spread?.degreesOfFreedom, (ofFirst + ofSecond) ** 2 / (ofFirst ** 2 + ofSecond ** 2));
  });

  test('leaves out bricks that take no time beyond the call', () => {
    const nothing = measuredBrick(1, 0, [0, -0.1, 0, 0, -0.1]);
    const observations = observationsOf([measuredCall, ...measuredBrick(0, ...apart(10, 0.02)), ...nothing]);
    near(spreadBetweenOccasions([surrounded(recipeOf([1, 50]))], observations)?.relative, Math.SQRT2 * 0.02);
  });

  test('separates a brick in one context from the same brick in another', () => {
    const alike = [8, 8].map((ms, index) => measuredOn(index + 1, 0, ms, { copies: 2 * COPIES }));
    const observations = observationsOf([measuredCall, ...measuredBrick(0, ...apart(8, 0.04)), ...alike]);
    const spread = spreadBetweenOccasions(
      [recipe, recipeOf([1], { copies: 2 * COPIES })].map(surrounded),
      observations,
    );
    near(spread?.relative, Math.SQRT2 * 0.04 * Math.SQRT1_2);
    near(spread?.degreesOfFreedom, 2);
  });

  test('separates a brick in models of one size from the same brick in models of another size', () => {
    const sizes = [2 ** 20, 2 ** 22];
    const recipes = sizes.map((footprintBytes) => surrounded(recipeTogether([1], { footprintBytes })));
    const measurements = sizes.flatMap((footprintBytes, index) => {
      const latencies = index === 0 ? apart(8, 0.04) : [8, 8];
      return latencies.map((ms, before) => measuredTogetherOn(before + 1, 0, ms, { footprintBytes }));
    });
    const spread = spreadBetweenOccasions(recipes, observationsOf(measurements));
    near(spread?.relative, Math.SQRT2 * 0.04 * Math.SQRT1_2);
    near(spread?.degreesOfFreedom, 2);
    // Two models of one size share the measurement: it counts twice and has one degree of freedom.
    const [first = assert.fail()] = recipes;
    near(spreadBetweenOccasions([first, first], observationsOf(measurements))?.degreesOfFreedom, 1);
  });
});
