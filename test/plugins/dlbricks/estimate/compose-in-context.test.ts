import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../support/property.js';
import {
  type RecipeInContext,
  failureText,
  type Observations,
  groupObservations,
} from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import { compose } from '../../../../plugins/dlbricks/estimate/compose.js';
import type { ModelRecipe } from '../../../../plugins/dlbricks/bricks/recipe.js';
import { perCopy } from '../../../../plugins/dlbricks/estimate/statistics.js';
import type { Outcome } from '../../../../src/measurement/measurement.js';
import { sampleMeasurement, signatureOf } from '../../../store/sample-measurement.js';
import { near } from '../../../support/near.js';
import { commonSpread } from '../support/spreads.js';

const BRICK = 0;
const COPIES = 1;
const BASELINE = 2;
const CALL = 3;

/** A model with its own call that has one brick three times. The brick is measured as four copies. */
function recipe(changes: Partial<ModelRecipe> = {}): RecipeInContext {
  const context = { copies: 4, benchmark: signatureOf(COPIES), baseline: signatureOf(BASELINE) };
  const asCopies: ModelRecipe = {
    name: 'model',
    layers: 9,
    bricks: [{ signature: signatureOf(BRICK), operators: ['Conv', 'Relu'], context }],
    sequences: [0, 0, 0],
    edges: [
      [0, 1],
      [1, 2],
    ],
    call: signatureOf(CALL),
    ...changes,
  };
  return { recipe: asCopies, context: undefined };
}

type Failure = Extract<Outcome, { kind: 'failure' }>;

/** Measurements, by benchmark number: run times in ms, or the failure. */
function measured(results: Readonly<Record<number, readonly number[] | Failure>>): Observations {
  return groupObservations(
    Object.entries(results).map(([index, result]) => {
      const outcome: Outcome = 'kind' in result ? result : { kind: 'samples', runMs: [...result], warmupMs: [] };
      return sampleMeasurement(Number(index), { outcome });
    }),
  );
}

const always = (ms: number): number[] => Array.from({ length: 5 }, () => ms);

const crashed: Failure = { kind: 'failure', reason: 'crashed', message: 'signal 11' };

describe('a model of bricks in context', () => {
  test('takes the time of a copy without the call for each sequence, and its own call once', () => {
    const { sequential, parallel, coverage, missing } = compose(
      recipe(),
      measured({ [COPIES]: always(41), [BASELINE]: always(1), [CALL]: always(0.5) }),
    );
    near(sequential?.ms, 3 * 10 + 0.5);
    near(parallel?.ms, 3 * 10 + 0.5);
    assert.deepEqual({ coverage, missing }, { coverage: 1, missing: [] });
  });

  test('ignores measurements of the brick alone', () => {
    const results = { [COPIES]: always(41), [BASELINE]: always(1), [CALL]: always(0.5) };
    const { sequential } = compose(recipe(), measured({ ...results, [BRICK]: always(99) }));
    near(sequential?.ms, 30.5);
  });

  test('adds no call where the recipe has none', () => {
    const { sequential, missing } = compose(
      recipe({ call: undefined }),
      measured({ [COPIES]: always(41), [BASELINE]: always(1) }),
    );
    near(sequential?.ms, 30);
    assert.deepEqual(missing, []);
  });

  test('has no interval if the spread between occasions is unknown', () => {
    const { sequential, measuringError } = compose(
      recipe(),
      measured({ [COPIES]: [40, 41, 42], [BASELINE]: always(1), [CALL]: always(0.5) }),
    );
    near(sequential?.ms, 30.5);
    assert.deepEqual([sequential?.lowMs, sequential?.highMs, measuringError], [undefined, undefined, undefined]);
  });

  test('has the uncertainty of the call and of the method', () => {
    const repeatable = commonSpread(0, 10);
    const quiet = measured({ [COPIES]: always(41), [BASELINE]: always(1), [CALL]: always(0.5) });
    const highest = compose(recipe(), quiet, repeatable).sequential?.highMs ?? NaN;
    // Three bricks, whose two kernels are measured together.
    const ofMethod = Math.hypot(30.5 * 0.012, 3 * 0.002);
    near(highest, 30.5 + 1.959963984540054 * Math.hypot(ofMethod, Math.SQRT2 * 0.2 * 0.5));
    const spread = (ms: number): number[] => [0.9, 0.95, 1, 1.05, 1.1].map((factor) => factor * ms);
    const noises = [{ [COPIES]: always(41), [BASELINE]: always(1), [CALL]: spread(0.5) }];
    for (const noise of noises) {
      const { sequential, measuringError } = compose(recipe(), measured(noise), repeatable);
      near(sequential?.ms, 30.5);
      near(30.5 - (sequential?.lowMs ?? NaN), (sequential?.highMs ?? NaN) - 30.5);
      assert.ok((sequential?.highMs ?? NaN) > highest + 0.0001, `${sequential?.highMs} is not above ${highest}`);
      assert.ok((measuringError ?? NaN) > 0);
    }
  });
});

describe('the list of missing measurements', () => {
  const reasons = (results: Parameters<typeof measured>[0]) =>
    compose(recipe(), measured(results)).missing.map(({ signature, operators, count, reason }) => {
      return [signature, operators.join('+'), count, reason];
    });
  const brick = [signatureOf(BRICK), 'Conv+Relu', 3];
  const call = [signatureOf(CALL), '(empty call)', 0];

  test('has the brick if its copies failed', () => {
    const results = { [COPIES]: crashed, [BASELINE]: always(1), [CALL]: always(1) };
    assert.deepEqual(reasons(results), [[...brick, failureText(crashed)]]);
  });

  test('has the brick if its baseline failed or is missing', () => {
    const results = { [COPIES]: always(41), [CALL]: always(1) };
    assert.deepEqual(reasons(results), [[...brick, 'not measured on this system']]);
    assert.deepEqual(reasons({ ...results, [BASELINE]: crashed }), [[...brick, failureText(crashed)]]);
  });

  test('leaves nothing covered if the only brick is in it', () => {
    const { coverage, sequential } = compose(recipe(), measured({ [COPIES]: always(41), [CALL]: always(1) }));
    assert.deepEqual({ coverage, sequential }, { coverage: 0, sequential: undefined });
  });

  test('has the call if the call failed; the sequences are still covered', () => {
    const results = { [COPIES]: always(41), [BASELINE]: always(1), [CALL]: crashed };
    assert.deepEqual(reasons(results), [[...call, failureText(crashed)]]);
    const { coverage, sequential } = compose(recipe(), measured(results));
    assert.equal(coverage, 1);
    near(sequential?.ms, 30);
  });
});

describe('one of several copies', () => {
  const summaries = fc.record({
    ms: fc.double({ min: 0, max: 1000, noNaN: true }),
    standardErrorMs: fc.option(fc.double({ min: 0, max: 100, noNaN: true }), { nil: undefined }),
    degreesOfFreedom: fc.integer({ min: 0, max: 50 }),
  });
  const copies = fc.integer({ min: 1, max: 48 });

  test('takes at least 0, and at most its share of the whole', () => {
    fc.assert(
      fc.property(summaries, summaries, copies, (together, call, count) => {
        const { ms } = perCopy(together, call, count);
        assert.ok(ms >= 0 && ms <= together.ms / count);
      }),
    );
  });

  test('has the standard error of both together, divided by the copies; unknown if one is unknown', () => {
    fc.assert(
      fc.property(summaries, summaries, copies, (together, call, count) => {
        const { standardErrorMs } = perCopy(together, call, count);
        const a = together.standardErrorMs;
        const b = call.standardErrorMs;
        if (a === undefined || b === undefined) assert.equal(standardErrorMs, undefined);
        else near(standardErrorMs, Math.sqrt(a * a + b * b) / count);
      }),
    );
  });
});
