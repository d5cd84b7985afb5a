import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../support/property.js';
import { compose } from '../../../../plugins/dlbricks/estimate/compose.js';
import { computeHalfWidth } from '../../../../plugins/dlbricks/estimate/statistics.js';
import { groupObservations } from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import { type MeasureSettings, MAX_OCCASIONS } from '../../../../plugins/dlbricks/measure/tasks.js';
import type { Task } from '../../../../src/measuring/task.js';
import type { PreparedModel } from '../../../../plugins/dlbricks/bricks/prepare-model.js';
import { findLimit, type Precision, tasksOfNextOccasion } from '../../../../plugins/dlbricks/measure/next-occasion.js';
import type { Measurement } from '../../../../src/measurement/measurement.js';
import { sumOf } from '../../../../src/base/sum-of.js';
import { LIMITS, PROTOCOL, SYSTEM } from '../../../store/sample-measurement.js';
import {
  COPIES,
  copiesSignature,
  crashed,
  type Failure,
  measuredBrick,
  measuredCall,
  measuredOn,
  preparedOf,
  recipeOf,
  recipeTogether,
  surrounded,
  measuredTogetherOn,
} from '../support/measured-bricks.js';
import { spreadsOf } from '../support/spreads.js';

const AMPLE = 1000;

const SETTINGS: MeasureSettings = { runOptions: SYSTEM.runOptions, protocol: PROTOCOL, limits: LIMITS };

type BricksOf<T> = T extends fc.Arbitrary<infer Made> ? Made : never;

/** A brick of a simulated machine. */
interface Made {
  readonly count: number;
  readonly ms: number;
  /** Wall time of one occasion. */
  readonly costMs: number;
  /** Relative deviations on occasions 1, 2, and so on. */
  readonly off: readonly number[];
}

interface Played {
  readonly rounds: readonly (readonly Task[])[];
  readonly measurements: readonly Measurement[];
}

function tasksOf(
  models: readonly PreparedModel[],
  measurements: readonly Measurement[],
  precision: Precision,
): readonly Task[] {
  const observations = groupObservations([measuredCall, ...measurements]);
  return tasksOfNextOccasion(models, observations, SYSTEM, SETTINGS, precision);
}

/** Measures the requested tasks until there are none. */
function play(bricks: readonly Made[], precision: Precision): Played {
  const models = [preparedOf(recipeOf(bricks.map(({ count }) => count)))];
  const on = (occasion: number, brick: number): Measurement => {
    const { ms, costMs, off } = bricks[brick] ?? assert.fail();
    return measuredOn(occasion, brick, ms * (1 + (off[occasion - 1] ?? 0)), { costMs });
  };
  const measurements = bricks.map((_, brick) => on(1, brick));
  const rounds: (readonly Task[])[] = [];
  for (;;) {
    const tasks = tasksOf(models, measurements, precision);
    if (tasks.length === 0) return { rounds, measurements };
    assert.ok(rounds.push(tasks) <= MAX_OCCASIONS * bricks.length, 'goes on for ever');
    for (const task of tasks) measurements.push(on(task.request.occasion, brickOf(task)));
  }
}

function brickOf({ request: { benchmark } }: Task): number {
  const brick = Array.from({ length: 20 }, (_, index) => index).find((index) => {
    return copiesSignature(index) === benchmark.signature;
  });
  return brick ?? assert.fail('no such brick');
}

/** The measurements of one brick, in the order in which they were taken. */
function occasionsOf(measurements: readonly Measurement[], brick: number): readonly number[] {
  return measurements.filter(({ signature }) => signature === copiesSignature(brick)).map(({ occasion }) => occasion);
}

function costOf(measurements: readonly Measurement[]): number {
  return measurements.reduce((sum, { costMs }) => sum + costMs, 0);
}

function allowedMs({ repeatLimit, leastRepeatMs }: Precision, first: readonly Measurement[]): number {
  return Math.max(repeatLimit * costOf(first), leastRepeatMs);
}

const made: fc.Arbitrary<Made> = fc.record({
  count: fc.integer({ min: 1, max: 20 }),
  ms: fc.double({ min: 0.01, max: 50, noNaN: true }),
  costMs: fc.double({ min: 1, max: 5000, noNaN: true }),
  off: fc.array(fc.double({ min: -0.1, max: 0.1, noNaN: true }), { minLength: 5, maxLength: 5 }),
});
const machines = fc.array(made, { minLength: 1, maxLength: 8 });
const precisions: fc.Arbitrary<Precision> = fc.record({
  targetError: fc.double({ min: 0.001, max: 0.2, noNaN: true }),
  repeatLimit: fc.double({ min: 0.05, max: 6, noNaN: true }),
  leastRepeatMs: fc.constantFrom(0, 500, 3000),
});

describe('bricks that are measured again', () => {
  test('make up at least half of a model’s time in the first round, for any target', () => {
    fc.assert(
      fc.property(machines, (bricks) => {
        const { rounds } = play(bricks, { targetError: 1e9, repeatLimit: AMPLE, leastRepeatMs: 0 });
        const again = new Set(rounds[0]?.map(brickOf));
        const timeOf = ({ count, ms, off }: Made): number => count * ms * (1 + (off[0] ?? 0));
        const total = bricks.reduce((sum, brick) => sum + timeOf(brick), 0);
        const twice = bricks.reduce((sum, brick, index) => sum + (again.has(index) ? timeOf(brick) : 0), 0);
        assert.ok(twice >= 0.5 * total * (1 - 1e-9), `${twice} of ${total}`);
      }),
    );
  });

  test('are each measured on the next occasion, and on five at most', () => {
    fc.assert(
      fc.property(machines, precisions, (bricks, precision) => {
        const { measurements } = play(bricks, precision);
        for (const brick of bricks.keys()) {
          const occasions = occasionsOf(measurements, brick);
          assert.deepEqual(
            occasions,
            occasions.map((_, index) => index + 1),
          );
          assert.ok(occasions.length <= 5);
        }
      }),
    );
  });

  test('cost no more than is allowed: a multiple of the cost of the first occasion, or leastRepeatMs', () => {
    fc.assert(
      fc.property(machines, precisions, (bricks, precision) => {
        const { measurements } = play(bricks, precision);
        const first = measurements.slice(0, bricks.length);
        const again = measurements.slice(bricks.length);
        assert.ok(costOf(again) <= allowedMs(precision, first) * (1 + 1e-9));
      }),
    );
  });

  test('are measured until the target or a limit is reached', () => {
    fc.assert(
      fc.property(machines, precisions, (bricks, precision) => {
        const { measurements } = play(bricks, precision);
        const recipe = surrounded(recipeOf(bricks.map(({ count }) => count)));
        const observations = groupObservations([measuredCall, ...measurements]);
        const estimate = compose(recipe, observations, spreadsOf([recipe], observations));
        const left = allowedMs(precision, measurements.slice(0, bricks.length));
        const spent = costOf(measurements.slice(bricks.length));
        const isUseful = ({ tried, costMs, occasions }: (typeof estimate.parts)[number]): boolean =>
          tried < MAX_OCCASIONS && costMs / occasions <= left - spent - 1e-6;
        const limit = findLimit(estimate, precision);
        if (limit !== 'target_error' && limit !== 'whole_model') assert.ok(!estimate.parts.some(isUseful), `${limit}`);
      }),
    );
  });

  test('are none if no time is allowed', () => {
    const precision = { targetError: 0.001, repeatLimit: 0, leastRepeatMs: 3000 };
    assert.deepEqual(
      tasksOf([preparedOf(recipeOf([1, 1]))], [...measuredBrick(0, 1), ...measuredBrick(1, 9)], precision),
      [],
    );
    // A brick that costs less than a millisecond.
    const quick = measuredOn(1, 0, 0.1, { costMs: 0.5 });
    assert.deepEqual(tasksOf([preparedOf(recipeOf([1]))], [quick], { ...precision, leastRepeatMs: 0 }), []);
    assert.equal(tasksOf([preparedOf(recipeOf([1]))], [quick], { ...precision, repeatLimit: 1 }).length, 1);
  });

  test('cost no more than is allowed, also beside a brick that was never measured', () => {
    const precision = { targetError: 1e9, repeatLimit: 1, leastRepeatMs: 0 };
    const [first, second] = [0, 1].map((brick) => measuredOn(1, brick, 5, { costMs: 100 }));
    assert.ok(first && second);
    const measured = [first, second, measuredOn(2, 0, 5, { costMs: 100 }), measuredOn(2, 1, 5, { costMs: 100 })];
    const models = [preparedOf(recipeOf([1, 1, 1]))];
    assert.equal(tasksOf(models, measured.slice(0, 2), { ...precision, repeatLimit: 0.6 }).length, 1);
    assert.deepEqual(tasksOf(models, measured, { ...precision, targetError: 1e-6 }), []);
  });

  test('are the same if the known measurements are the same', () => {
    fc.assert(
      fc.property(machines, precisions, (bricks, precision) => {
        assert.deepEqual(play(bricks, precision), play(bricks, precision));
      }),
      { numRuns: 20 },
    );
  });

  const two = [preparedOf(recipeOf([1, 1]))];
  const anyTarget: Precision = { targetError: 1e9, repeatLimit: AMPLE, leastRepeatMs: 0 };

  test('are those that take the largest share of the time', () => {
    const tasks = tasksOf(two, [...measuredBrick(0, 1), ...measuredBrick(1, 9)], anyTarget);
    assert.deepEqual(
      tasks.map(({ label }) => label),
      ['model: Op1 (again)'],
    );
  });

  test('are none beyond half of the time', () => {
    const alike = [...measuredBrick(0, 5), ...measuredBrick(1, 5)];
    assert.equal(tasksOf(two, alike, anyTarget).length, 1);
  });

  test('are such that were measured once, until half of the time is measured twice', () => {
    const three = [preparedOf(recipeOf([1, 1, 1]))];
    const measured = [...measuredBrick(0, 45, 46), ...measuredBrick(1, 30), ...measuredBrick(2, 25)];
    assert.deepEqual(tasksOf(three, measured, anyTarget).map(brickOf), [1]);
  });

  test('are in the order of the occasions, whose composites are apart', () => {
    const unlike = [...measuredBrick(0, 5, 6), ...measuredBrick(1, 5)];
    const tasks = tasksOf(two, unlike, { ...anyTarget, targetError: 1e-6 });
    assert.deepEqual(
      tasks.map(({ label, request }) => [label, request.occasion]),
      [
        ['model: Op1 (again)', 2],
        ['model: Op0 (again)', 3],
      ],
    );
  });

  test('are all of a model whose bricks have composites of their own, if there is time for all', () => {
    // The cache of the system has 32 MiB. A footprint of 1.5 times that is cold.
    const asked = (footprintMib: number, precision: Precision): readonly (string | undefined)[] => {
      const recipe = recipeTogether([1, 1], { footprintBytes: footprintMib * 2 ** 20 });
      const { context } = surrounded(recipe);
      const measured = [1, 9].map((ms, brick) => ({ ...measuredTogetherOn(1, brick, ms, { costMs: 100 }), context }));
      return tasksOf([preparedOf(recipe)], measured, precision).map(({ label }) => label);
    };
    assert.deepEqual(asked(48, anyTarget), ['model: Op1 (again)']);
    assert.deepEqual(asked(4, anyTarget), ['model: Op0 (again)', 'model: Op1 (again)']);
    assert.deepEqual(asked(4, { ...anyTarget, repeatLimit: 0.9, leastRepeatMs: 0 }), ['model: Op1 (again)']);
  });

  test('are those that cost least for their share', () => {
    const cheap = measuredOn(1, 0, 9, { costMs: 10 });
    const dear = measuredOn(1, 1, 10, { costMs: 5000 });
    // The cheap one is less than half of the time, so that both are needed; it comes first.
    assert.deepEqual(tasksOf(two, [cheap, dear], anyTarget).map(brickOf), [0, 1]);
    const allowed = { targetError: 1e9, repeatLimit: 0.5, leastRepeatMs: 0 };
    assert.deepEqual(tasksOf(two, [cheap, dear], allowed).map(brickOf), [0]);
  });

  test('run like other graphs of copies: already optimized, and with as many runs', () => {
    const [task = assert.fail()] = tasksOf(two, [...measuredBrick(0, 1), ...measuredBrick(1, 9)], anyTarget);
    const { benchmark, runOptions, occasion, protocol } = task.request;
    assert.deepEqual([benchmark.signature, runOptions.optimizationLevel], [copiesSignature(1), 'disabled']);
    assert.deepEqual([occasion, protocol.runs], [2, Math.ceil(PROTOCOL.runs / 4 / COPIES)]);
  });

  test('are no more than the target needs', () => {
    const four = recipeOf([1, 1, 1, 1]);
    const measured = [0, 1, 2, 3].flatMap((brick) => measuredBrick(brick, 10, 10.4, 9.8));
    const observations = groupObservations([measuredCall, ...measured]);
    const known = { wholes: new Map([['another', [10, 10.01, 10, 10.01]]]) };
    const estimate = compose(surrounded(four), observations, spreadsOf([surrounded(four)], observations, known));
    const halfWidth = computeHalfWidth(estimate.sequential) ?? assert.fail();
    // Not 0: the half width is rounded.
    const asked = [-1e-9, 0.02, 0.04, 0.06].map((less) => {
      const precision = { targetError: halfWidth * (1 - less), repeatLimit: AMPLE, leastRepeatMs: 0 };
      return tasksOfNextOccasion([preparedOf(four)], observations, SYSTEM, SETTINGS, precision, known).length;
    });
    assert.deepEqual(asked.slice(0, 2), [0, 1]);
    assert.deepEqual(
      asked,
      asked.toSorted((a, b) => a - b),
    );
    assert.ok((asked[3] ?? 0) > 1 && (asked[3] ?? NaN) < 4, asked.join(', '));
  });

  test('are those that narrow the interval most, of bricks in a process with many others', () => {
    // Both take as much time. What brick 0 has in common with brick 2 adds up, and brick 1 is alone.
    const conditions = [1, 2, 1].map((wallMs) => ({ wallMs, cores: 2 }));
    const recipe = recipeTogether([1, 1, 1], { footprintBytes: 48 * 2 ** 20 });
    const { context } = surrounded(recipe);
    const measured = [5, 5, 4].flatMap((ms, brick) =>
      [1.02, 0.98].map((factor, index) => {
        const { [brick]: of } = conditions;
        return { ...measuredTogetherOn(index + 1, brick, ms * factor), context, ...(of && { conditions: of }) };
      }),
    );
    const observations = groupObservations([measuredCall, ...measured]);
    const known = { wholes: new Map([['another', [10, 10.01, 10, 10.01]]]) };
    const asked = (repeatLimit: number): readonly string[] => {
      const precision = { targetError: 0.001, repeatLimit, leastRepeatMs: 0 };
      const tasks = tasksOfNextOccasion([preparedOf(recipe)], observations, SYSTEM, SETTINGS, precision, known);
      return tasks.map(({ label }) => label);
    };
    // 300 ms for the first occasions, 300 ms for the second: time for one more.
    assert.deepEqual(asked(1.4), ['model: Op0 (again)']);
  });

  describe('among bricks whose spread is known', () => {
    const footprintBytes = 48 * 2 ** 20;
    const known = { wholes: new Map([['another', [10, 10.01, 10, 10.01]]]) };
    const one = fc.integer({ min: 1, max: 2 });
    const bricks = fc.array(
      fc.record({
        count: fc.integer({ min: 1, max: 20 }),
        ms: fc.double({ min: 1, max: 50, noNaN: true }),
        costMs: fc.integer({ min: 50, max: 200 }),
        // The composite that measures it on each occasion, and how far it is off, once more and once less.
        composites: fc.tuple(one, one),
        off: fc.constantFrom(0.01, -0.01, 0.015, -0.015),
      }),
      { minLength: 2, maxLength: 6 },
    );

    /** A model with these bricks, each measured twice, and the width of its interval after further occasions. */
    function twice(made: BricksOf<typeof bricks>) {
      const recipe = recipeTogether(
        made.map(({ count }) => count),
        { footprintBytes },
      );
      const model = surrounded(recipe);
      const { context } = model;
      const on = (occasion: number, brick: number, wallMs: number, factor: number): Measurement => {
        const { ms, costMs } = made[brick] ?? assert.fail();
        const conditions = { wallMs, cores: 2 };
        return { ...measuredTogetherOn(occasion, brick, ms * factor, { costMs }), context, conditions };
      };
      const measured = made.flatMap(({ composites: [first, second], off }, brick) => [
        on(1, brick, first, 1 + off),
        on(2, brick, second, 1 - off),
      ]);
      const observations = groupObservations([measuredCall, ...measured]);
      const spreads = spreadsOf([model], observations, known);
      const now = compose(model, observations, spreads);
      /** Half the width, relative, once some bricks are measured on a third occasion, all in one process. */
      const widthWith = (again: readonly number[]): number => {
        const more = again.map((brick) => on(3, brick, 3, 1));
        const then = groupObservations([measuredCall, ...measured, ...more]);
        const { measuringError = NaN, leastError = NaN } = compose(model, then, spreads);
        return Math.hypot(measuringError, leastError);
      };
      const chosen = (precision: Precision): readonly number[] => {
        const tasks = tasksOfNextOccasion([preparedOf(recipe)], observations, SYSTEM, SETTINGS, precision, known);
        return tasks.map(({ label }) => Number(/Op(\d+)/.exec(label)?.[1]));
      };
      return { now, widthWith, chosen };
    }

    /** The bricks that narrow the interval most for their cost, one after the other. */
    function bestOf(widthWith: (again: readonly number[]) => number, costs: readonly number[], allowedMs: number) {
      const best: number[] = [];
      for (let leftMs = allowedMs; ;) {
        const rates = costs.flatMap((costMs, brick) => {
          if (best.includes(brick) || costMs > leftMs) return [];
          return [{ brick, costMs, rate: (widthWith(best) - widthWith([...best, brick])) / costMs }];
        });
        const [next] = rates.toSorted((a, b) => b.rate - a.rate);
        if (next === undefined || next.rate <= 0) return best;
        best.push(next.brick);
        leftMs -= next.costMs;
      }
    }

    for (const [which, costs, atMost] of [
      ['which all cost the same', [100], 3],
      ['for the time that they cost', [60, 100], 1],
    ] as const) {
      test(`are those that narrow the interval most, ${which}`, () => {
        const some = bricks.chain((made) =>
          fc.tuple(...made.map((each) => fc.constantFrom(...costs).map((costMs) => ({ ...each, costMs })))),
        );
        const property = fc.property(some, fc.integer({ min: 1, max: atMost }), (made, count) => {
          const { now, widthWith, chosen } = twice(made);
          // Near to the least width, nothing is measured again.
          fc.pre((computeHalfWidth(now.sequential) ?? NaN) > 1.1 * (now.leastError ?? NaN));
          const costOf = made.map(({ costMs }) => costMs);
          const allowedMs = 100 * count;
          const repeatLimit = 1 + (allowedMs * (1 + 1e-9)) / sumOf(costOf);
          const rate = (again: readonly number[]): number => {
            const costMs = Math.max(1, sumOf(again.map((brick) => costOf[brick] ?? NaN)));
            assert.ok(costMs <= allowedMs);
            return (widthWith([]) - widthWith(again)) / costMs;
          };
          const best = rate(bestOf(widthWith, costOf, allowedMs));
          const got = rate(chosen({ targetError: 1e-6, repeatLimit, leastRepeatMs: 0 }));
          assert.ok(got >= 0.99 * best, `${got} of ${best}`);
        });
        fc.assert(property, { numRuns: 50 });
      });
    }

    test('are no more than narrow the interval to the target, or nearly to its least width', () => {
      const property = fc.property(bricks, fc.double({ min: 0.1, max: 1.1, noNaN: true }), (made, part) => {
        const { now, widthWith, chosen } = twice(made);
        const halfWidth = computeHalfWidth(now.sequential) ?? assert.fail();
        const targetError = part * halfWidth;
        const aim = Math.max(targetError, 1.1 * (now.leastError ?? NaN));
        const after = (again: readonly number[]): number => (halfWidth * widthWith(again)) / widthWith([]);
        const got = chosen({ targetError, repeatLimit: AMPLE, leastRepeatMs: 0 });
        const others = [...made.keys()].filter((brick) => !got.includes(brick));
        const isUseful = (brick: number): boolean => widthWith([...got, brick]) < widthWith(got) * 0.999;
        assert.ok(after(got) <= aim * 1.001 || !others.some(isUseful), 'too few');
        // The last one was still necessary.
        const best = bestOf(widthWith, made.map(({ costMs }) => costMs), Infinity); // prettier-ignore
        assert.ok(got.length === 0 || after(best.slice(0, got.length - 1)) > aim * 0.999, 'too many');
      });
      fc.assert(property, { numRuns: 50 });
    });
  });

  test('are none if everything is precise enough', () => {
    const alike = [...measuredBrick(0, 5, 5.01), ...measuredBrick(1, 5)];
    assert.deepEqual(tasksOf(two, alike, { targetError: 0.05, repeatLimit: AMPLE, leastRepeatMs: 0 }), []);
    const unlike = [...measuredBrick(0, 5, 5.5), ...measuredBrick(1, 5)];
    assert.notDeepEqual(tasksOf(two, unlike, { targetError: 0.05, repeatLimit: AMPLE, leastRepeatMs: 0 }), []);
  });

  test('are none if nothing is known at all', () => {
    assert.deepEqual(tasksOf(two, [], anyTarget), []);
    assert.deepEqual(tasksOf(two, [...measuredBrick(0, crashed), ...measuredBrick(1, crashed)], anyTarget), []);
    assert.deepEqual(tasksOf([preparedOf(recipeOf([]))], [], anyTarget), []);
  });

  test('are none of a model whose interval has no end, because values of it are made up', () => {
    const precision: Precision = { targetError: 0.01, repeatLimit: AMPLE, leastRepeatMs: 0 };
    const unlike = [...measuredBrick(0, 5, 5.5), ...measuredBrick(1, 5)];
    const recipe = {
      ...recipeOf([1, 1]),
      made_up_values: { operators: [{ operator: 'Op1', count: 1 }], kernels: 1, sequences: [1] },
    };
    assert.deepEqual(tasksOf([preparedOf(recipe)], unlike, precision), []);
    assert.notDeepEqual(tasksOf(two, unlike, precision), []);
  });
});

describe('a brick that several models have in common', () => {
  const known = [...measuredBrick(0, 9), ...measuredBrick(1, 1)];
  const precision: Precision = { targetError: 1e9, repeatLimit: AMPLE, leastRepeatMs: 0 };

  test('is measured again once for all of them', () => {
    const models = ['one', 'two'].map((name) => preparedOf(recipeOf([1, 1], { name })));
    assert.deepEqual(
      tasksOf(models, known, precision).map(({ label }) => label),
      ['one: Op0 (again)'],
    );
  });

  test('is not measured again once other bricks suffice for all of them', () => {
    const { bricks, ...rest } = recipeOf([1, 0, 1]);
    const other = { ...rest, bricks: bricks.filter((_, brick) => brick !== 1), sequences: [0, 1] };
    const measured = [...measuredBrick(0, 1), ...measuredBrick(1, 9), ...measuredBrick(2, 9, 9.1)];
    const tasks = tasksOf([preparedOf(recipeOf([1, 1])), preparedOf(other)], measured, precision);
    assert.deepEqual(tasks.map(brickOf), [1]);
  });

  test('is measured again for each of its contexts', () => {
    const models = [COPIES, 2 * COPIES].map((copies) => preparedOf(recipeOf([1], { copies })));
    const tasks = tasksOf(models, [...known, measuredOn(1, 0, 9, { copies: 2 * COPIES })], precision);
    assert.deepEqual(
      tasks.map(({ request }) => request.benchmark.signature),
      [copiesSignature(0), copiesSignature(0, 2 * COPIES)],
    );
  });
});

describe('a brick that failed on a further occasion', () => {
  const models = [preparedOf(recipeOf([1]))];
  const precision: Precision = { targetError: 1e9, repeatLimit: AMPLE, leastRepeatMs: 0 };
  const late: Failure = { kind: 'failure', reason: 'timeout', message: 'too late' };

  test('is tried on the next one, and on no more than five', () => {
    const nextOf = (...measurements: readonly Measurement[]): readonly number[] =>
      tasksOf(models, measurements, precision).map(({ request }) => request.occasion);
    assert.deepEqual(nextOf(...measuredBrick(0, 9, late)), [3]);
    assert.deepEqual(nextOf(...measuredBrick(0, 9, late, late)), [4]);
    assert.deepEqual(nextOf(...measuredBrick(0, 9, late, late, late, late)), []);
  });

  test('has used up the cost of that occasion', () => {
    const tight = { ...precision, repeatLimit: 1, leastRepeatMs: 0 };
    assert.deepEqual(tasksOf(models, measuredBrick(0, 9, late), tight), []);
  });
});
