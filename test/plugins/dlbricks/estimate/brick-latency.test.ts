import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  brickLatency,
  findOccurrences,
  identifyProcess,
  callLatency,
  outputCopyLatency,
  failureText,
  groupObservations,
} from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import type { Measurement } from '../../../../src/measurement/measurement.js';
import { sampleMeasurement, signatureOf } from '../../../store/sample-measurement.js';
import {
  CALL_MS,
  crashed,
  measuredBrick,
  measuredCall,
  measuredTogetherOn,
  type OnOccasion,
  recipeOf,
  recipeTogether,
  surrounded,
  measuredOn,
} from '../support/measured-bricks.js';
import { near } from '../../../support/near.js';

const recipe = recipeOf([1]);
const [brick = assert.fail()] = recipe.bricks;

/** The latency of a brick after these occasions. */
function latencyAfter(...occasions: readonly OnOccasion[]) {
  return brickLatency(brick, undefined, groupObservations([measuredCall, ...measuredBrick(0, ...occasions)]));
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
    const once = latencyAfter(noisy);
    const four = latencyAfter(noisy, noisy, noisy, noisy);
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

  test('counts only those whose runs agree, with the cost of all, if the runs of others differ widely', () => {
    const disturbed = [165, 104, 70];
    const latency = latencyAfter(disturbed, [66.6, 64.8, 64.7]);
    assert.ok(latency.kind === 'known');
    assert.deepEqual(latency.occasionsMs, [64.8]);
    assert.deepEqual([latency.runs, latency.costMs, latency.processes.length], [3, 200, 1]);
    // Nothing else is known of it.
    const only = latencyAfter(disturbed, disturbed);
    assert.ok(only.kind === 'known');
    assert.deepEqual(only.occasionsMs, [104, 104]);
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
    const withoutCall = groupObservations(measuredBrick(0, 10, 11));
    assert.deepEqual(brickLatency(brick, undefined, withoutCall), unknown('not measured on this system'));
  });

  test('has the latency of its own measurements if it was measured alone', () => {
    const alone = sampleMeasurement(0, { outcome: { kind: 'samples', runMs: [3, 3, 3, 3, 3], warmupMs: [] } });
    const latency = brickLatency({ signature: signatureOf(0), operators: [] }, undefined, groupObservations([alone]));
    assert.ok(latency.kind === 'known');
    near(latency.ms, 3);
  });
});

describe('a brick that is measured together with others', () => {
  const { recipe: together, context } = surrounded(recipeTogether([1]));
  const [one = assert.fail()] = together.bricks;

  test('uses only measurements in its context, and needs no call', () => {
    const here = measuredTogetherOn(1, 0, 2);
    const elsewhere = measuredTogetherOn(1, 0, 7, { footprintBytes: 2 ** 22 });
    const latency = brickLatency(one, context, groupObservations([here, elsewhere, sampleMeasurement(0)]));
    assert.ok(latency.kind === 'known');
    assert.deepEqual(latency.occasionsMs, [2]);
    assert.deepEqual(
      brickLatency(one, context, groupObservations([elsewhere, sampleMeasurement(0)])),
      unknown('not measured on this system'),
    );
  });

  test('subtracts the overhead from each occasion, and keeps the spread of its runs', () => {
    const noisy = [9, 10, 11, 9.5, 10.5];
    const { outcome, ...rest } = measuredTogetherOn(1, 0, noisy);
    assert.ok(outcome.kind === 'samples');
    const { overheadMs, ...unwatched } = outcome;
    const watched = brickLatency(one, context, groupObservations([{ ...rest, outcome }]));
    const withCost = brickLatency(one, context, groupObservations([{ ...rest, outcome: unwatched }]));
    assert.ok(watched.kind === 'known' && withCost.kind === 'known');
    near(watched.ms, 10);
    near(withCost.ms, 10 + (overheadMs ?? NaN));
    assert.equal(watched.within.standardErrorMs, withCost.within.standardErrorMs);
  });

  test('has a latency of 0, not less, if it takes less than the overhead', () => {
    const latency = brickLatency(one, context, groupObservations([measuredTogetherOn(1, 0, -0.1)]));
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
    const latency = callLatency(signature, groupObservations([measuredCall, failed, slower]));
    assert.ok(latency.kind === 'known');
    near(latency.within.ms, (CALL_MS + 3) / 2);
    assert.deepEqual(callLatency(signature, groupObservations([failed])), unknown(failureText(crashed)));
  });
});

describe('handing over outputs', () => {
  const leaving = signatureOf(50);
  const staying = signatureOf(51);
  const taking = (index: number, runMs: number[]): Measurement => {
    return sampleMeasurement(index, { outcome: { kind: 'samples', runMs, warmupMs: [] } });
  };
  const latencyOf = (...measurements: readonly Measurement[]) => {
    return outputCopyLatency({ leaving, staying }, groupObservations(measurements));
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
    const alone = callLatency(leaving, groupObservations([taking(50, noisy)]));
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

describe('the processes of bricks', () => {
  const conditions = { wallMs: 123.456, cores: 2 };

  test('are composites: bricks of one have its conditions', () => {
    const [first, same, other] = [conditions, { ...conditions }, { ...conditions, wallMs: 123.457 }].map(
      (ones, brick) => identifyProcess({ ...measuredTogetherOn(1, brick, 10), conditions: ones }),
    );
    assert.equal(first, same);
    assert.notEqual(first, other);
  });

  test('are occasions if conditions are unknown, or if each brick has a graph of its own', () => {
    assert.equal(identifyProcess(measuredTogetherOn(2, 0, 10)), identifyProcess(measuredTogetherOn(2, 1, 10)));
    assert.notEqual(identifyProcess(measuredTogetherOn(1, 0, 10)), identifyProcess(measuredTogetherOn(2, 0, 10)));
    const alone = [0, 1].map((brick) => ({
      ...measuredOn(1, brick, 10),
      conditions: { ...conditions, wallMs: brick },
    }));
    assert.equal(new Set(alone.map(identifyProcess)).size, 1);
  });

  test('count a brick once for each context, in however many models it is', () => {
    const sizes = [2 ** 20, 2 ** 22];
    const recipes = sizes.map((footprintBytes) => surrounded(recipeTogether([1], { footprintBytes })));
    const observations = groupObservations(
      sizes.flatMap((footprintBytes) => [1, 2].map((at) => measuredTogetherOn(at, 0, 8 + at, { footprintBytes }))),
    );
    const [first = assert.fail()] = recipes;
    const occurrences = findOccurrences([first, ...recipes], observations);
    assert.deepEqual(
      occurrences.map(({ ms }) => ms),
      [9, 10, 9, 10],
    );
    assert.equal(new Set(occurrences.map(({ brick }) => brick)).size, 2);
  });
});
