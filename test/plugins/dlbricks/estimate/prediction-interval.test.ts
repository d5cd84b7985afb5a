import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compose, type Estimate } from '../../../../plugins/dlbricks/estimate/compose.js';
import { spreadBetweenOccasions } from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import { METHOD_ERROR, predictionInterval } from '../../../../plugins/dlbricks/estimate/interval.js';
import { observationsOf } from '../../../../plugins/dlbricks/estimate/observations.js';
import { marginOf, type Spread, studentQuantile } from '../../../../plugins/dlbricks/estimate/statistics.js';
import { CALL_MS, measuredBrick, measuredCall, measuredOn, recipeOf, surrounded } from '../support/measured-bricks.js';
import { normalNumbers } from '../support/noise.js';
import { near } from '../../../support/near.js';

/** Latencies in ms, and how often each brick occurs in its model. */
const BRICKS_MS = [8, 5, 3, 2, 1, 0.5, 0.2, 0.1];
const COUNTS = [1, 3, 1, 6, 2, 10, 4, 1];
const recipe = surrounded(recipeOf(COUNTS));
const TOTAL_MS = BRICKS_MS.reduce((sum, ms, brick) => sum + ms * (COUNTS[brick] ?? 0), 0);

/** Standard deviations relative to a latency. */
interface Machine {
  /** Of the factor that all bricks of one occasion have in common. */
  readonly drift: number;
  /** Of the factor that each brick has on each occasion. */
  readonly own: number;
  /** Of runs within a process. */
  readonly within: number;
}

/** Standard deviation between the machines of one system, relative. */
const BETWEEN_MACHINES = 0.03;

/** Which of several machines measured a brick. */
type Sharing = (brick: number, occasion: number) => number;

/**
 * As `simulate`, but several machines measure the bricks, and the whole model runs on a further machine. The machines
 * were compared before, each in a process of its own.
 */
function simulateOnMany(count: number, sharing: Sharing, isCompared: boolean, noise: () => number) {
  const { drift, own, within } = { drift: 0.01, own: 0.01, within: 0.02 };
  const machines = Array.from({ length: count }, () => 1 + BETWEEN_MACHINES * noise());
  const compared = machines.map((machine) => machine * (1 + drift * noise()));
  const center = compared.reduce((sum, one) => sum + one, 0) / count;
  const relative = Math.sqrt(compared.reduce((sum, one) => sum + (one / center - 1) ** 2, 0) / (count - 1));
  const measurements = [1, 2].map((occasion) => {
    const drifts = machines.map((machine) => machine * (1 + drift * noise()));
    return BRICKS_MS.map((ms, brick) => {
      const onOccasion = ms * ((drifts[sharing(brick, occasion) % count] ?? NaN) + own * noise());
      const runs = Array.from({ length: 5 }, () => onOccasion * (1 + within * noise()));
      return measuredOn(occasion, brick, runs);
    });
  });
  const observations = observationsOf([measuredCall, ...measurements.flat()]);
  const spread = spreadBetweenOccasions([recipe], observations);
  const common = (1 + BETWEEN_MACHINES * noise()) * (1 + drift * noise());
  const wholeMs = TOTAL_MS * common * (1 + METHOD_ERROR * noise()) + CALL_MS;
  const ofMachines = isCompared ? { relative, degreesOfFreedom: count - 1 } : undefined;
  return { estimate: compose(recipe, observations, spread, ofMachines), wholeMs };
}

/** Simulates a model's estimate from bricks on this many occasions, and the model's latency in a process of its own. */
function simulate({ drift, own, within }: Machine, occasions: number, noise: () => number) {
  const measurements = Array.from({ length: occasions }, (_, index) => {
    const common = 1 + drift * noise();
    return BRICKS_MS.map((ms, brick) => {
      const onOccasion = ms * (common + own * noise());
      const runs = Array.from({ length: 5 }, () => onOccasion * (1 + within * noise()));
      return measuredOn(index + 1, brick, runs);
    });
  });
  const observations = observationsOf([measuredCall, ...measurements.flat()]);
  const spread = spreadBetweenOccasions([recipe], observations);
  const common = 1 + drift * noise();
  const ownMs = BRICKS_MS.reduce((sum, ms, brick) => sum + ms * (COUNTS[brick] ?? 0) * own * noise(), 0);
  const wholeMs = (TOTAL_MS * common + ownMs) * (1 + METHOD_ERROR * noise()) + CALL_MS;
  return { estimate: compose(recipe, observations, spread), wholeMs };
}

function holds({ sequential }: Estimate, ms: number): boolean {
  return (sequential?.lowMs ?? NaN) <= ms && ms <= (sequential?.highMs ?? NaN);
}

describe('the interval of an estimate', () => {
  const machines: Readonly<Record<string, Machine>> = {
    'repeats itself within half a percent': { drift: 0.005, own: 0.005, within: 0.01 },
    'repeats itself within a percent and a half': { drift: 0.01, own: 0.01, within: 0.02 },
    'is noisy': { drift: 0.02, own: 0.02, within: 0.03 },
    'drifts for all bricks alike': { drift: 0.01, own: 0.002, within: 0.02 },
  };
  for (const [what, machine] of Object.entries(machines)) {
    test(`holds a measurement of the whole model in 93 to 98 of 100 cases on a machine that ${what}`, () => {
      const noise = normalNumbers(2026);
      const cases = 2000;
      let hits = 0;
      for (let trial = 0; trial < cases; trial++) {
        const { estimate, wholeMs } = simulate(machine, 2, noise);
        if (holds(estimate, wholeMs)) hits++;
      }
      assert.ok(hits >= 0.93 * cases && hits <= 0.98 * cases, `${hits} of ${cases}`);
    });
  }

  const sharings: Readonly<Record<string, Sharing>> = {
    'all of them': (brick, occasion) => brick + occasion,
    'one of them': () => 0,
  };
  const cases = 2000;
  const hitsOf = (count: number, sharing: Sharing, isCompared: boolean): number => {
    const noise = normalNumbers(16);
    let hits = 0;
    for (let trial = 0; trial < cases; trial++) {
      const { estimate, wholeMs } = simulateOnMany(count, sharing, isCompared, noise);
      if (holds(estimate, wholeMs)) hits++;
    }
    return hits;
  };
  for (const [who, sharing] of Object.entries(sharings)) {
    for (const count of [2, 3, 8]) {
      test(`holds in at least 93 of 100 cases if ${count} machines differ: bricks on ${who}, model on another`, () => {
        const hits = hitsOf(count, sharing, true);
        assert.ok(hits >= 0.93 * cases, `${hits} of ${cases}`);
      });
    }
  }

  test('would hold too rarely without the spread between machines', () => {
    const hits = hitsOf(8, () => 0, false);
    assert.ok(hits < 0.9 * cases, `${hits} of ${cases}`);
  });

  test('is narrower with more occasions, and still holds as often as it claims', () => {
    const widths = [2, 5].map((occasions) => {
      const noise = normalNumbers(7);
      const cases = 500;
      let [hits, width] = [0, 0];
      for (let trial = 0; trial < cases; trial++) {
        const { estimate, wholeMs } = simulate({ drift: 0.02, own: 0.02, within: 0.02 }, occasions, noise);
        if (holds(estimate, wholeMs)) hits++;
        width += (estimate.sequential?.highMs ?? NaN) - (estimate.sequential?.lowMs ?? NaN);
      }
      assert.ok(hits >= 0.93 * cases, `${hits} of ${cases} with ${occasions} occasions`);
      return width;
    });
    assert.ok((widths[1] ?? NaN) < 0.9 * (widths[0] ?? NaN), `${widths.join(' and ')}`);
  });

  // 10 ms with the spread of 3 %, measured on two occasions; the call has no spread of its own.
  const spread: Spread = { relative: 0.03, degreesOfFreedom: 12 };
  const single = surrounded(recipeOf([1]));
  const twice = compose(single, observationsOf([measuredCall, ...measuredBrick(0, 10, 10)]), spread);

  test('combines the spreads of the bricks’ mean and of the model’s own measurement, and the error of the method', () => {
    const ms = 10 + CALL_MS;
    near(twice.sequential?.ms, ms);
    const expected = marginOf([
      { deviationMs: Math.hypot((10 * 0.03) / Math.SQRT2, ms * 0.03), degreesOfFreedom: 12 },
      { deviationMs: ms * METHOD_ERROR, degreesOfFreedom: Infinity },
    ]);
    near(twice.sequential?.highMs, ms + expected);
    near(twice.sequential?.lowMs, ms - expected);
  });

  test('contains the difference of two machines if several measured the bricks', () => {
    const ms = 10 + CALL_MS;
    const machines: Spread = { relative: 0.05, degreesOfFreedom: 3 };
    const several = compose(single, observationsOf([measuredCall, ...measuredBrick(0, 10, 10)]), spread, machines);
    const expected = marginOf([
      { deviationMs: Math.hypot((10 * 0.03) / Math.SQRT2, ms * 0.03), degreesOfFreedom: 12 },
      { deviationMs: ms * METHOD_ERROR, degreesOfFreedom: Infinity },
      { deviationMs: Math.SQRT2 * ms * 0.05, degreesOfFreedom: 3 },
    ]);
    near(several.sequential?.highMs, ms + expected);
    assert.equal(several.measuringError, twice.measuringError);
  });

  test('contains the latency without a neighbour if all bricks were measured beside a neighbour', () => {
    const beside = measuredBrick(0, 10, 10).map((measurement) => ({
      ...measurement,
      conditions: { wallMs: 100, cores: 2, sharedShare: 1 },
    }));
    const shared = compose(single, observationsOf([measuredCall, ...beside]), spread);
    // A neighbour makes kernels 1.3 times as long.
    const alone = 10 / 1.3 + CALL_MS;
    assert.ok(holds(shared, alone), `${shared.sequential?.lowMs} to ${shared.sequential?.highMs}`);
    assert.ok(!holds(twice, alone));
    assert.equal(shared.measuringError, twice.measuringError);
  });

  test('has a part that more measurements would reduce: the error of the bricks alone', () => {
    const ms = 10 + CALL_MS;
    near(twice.measuringError, (studentQuantile(12) * 10 * 0.03) / Math.SQRT2 / ms);
    const five = compose(single, observationsOf([measuredCall, ...measuredBrick(0, 10, 10, 10, 10, 10)]), spread);
    near(five.measuringError, (studentQuantile(12) * 10 * 0.03) / Math.sqrt(5) / ms);
  });

  test('treats errors of bricks as fully correlated, since a machine drifts for all of them', () => {
    const [one, four] = [surrounded(recipeOf([4])), surrounded(recipeOf([1, 1, 1, 1]))];
    const measured = observationsOf([measuredCall, ...[0, 1, 2, 3].flatMap((brick) => measuredBrick(brick, 10, 10))]);
    near(compose(four, measured, spread).sequential?.highMs, compose(one, measured, spread).sequential?.highMs ?? NaN);
  });

  test('does not contain the spread between occasions at the layer cut, but the spread of runs', () => {
    const { bricks, ...rest } = recipeOf([1]);
    const recipeOfLayers = { ...rest, call: undefined, bricks: bricks.map(({ context: _, ...brick }) => brick) };
    const layers = { recipe: recipeOfLayers, context: undefined };
    const runs = measuredBrick(0, [9, 10, 11, 9.5, 10.5]).map((measurement) => {
      return { ...measurement, signature: recipeOfLayers.bricks[0]?.signature ?? '' };
    });
    const { sequential, measuringError } = compose(layers, observationsOf(runs), spread);
    assert.deepEqual(sequential, compose(layers, observationsOf(runs)).sequential);
    assert.ok(sequential?.highMs !== undefined && sequential.highMs > sequential.ms);
    assert.equal(measuringError, undefined);
  });
});

describe('the relative error of measuring', () => {
  test('is the same in every unit, also for a model of microseconds', () => {
    const errorOf = (ms: number): number | undefined => {
      const within = { ms, standardErrorMs: ms / 100, degreesOfFreedom: 4 };
      const latency = {
        kind: 'known',
        ms,
        occasionsMs: [ms, ms],
        within,
        sharedShare: 0,
        runs: 10,
        costMs: 1,
      } as const;
      const sum = { terms: [{ latency, count: 1 }], calls: [] };
      return predictionInterval(sum, { relative: 0.02, degreesOfFreedom: 3 }).measuringError;
    };
    near(errorOf(0.001), errorOf(1000) ?? NaN);
    assert.equal(errorOf(0), undefined);
  });
});
