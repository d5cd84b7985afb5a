import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { failureText, groupObservations } from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import type { ModelRecipe } from '../../../../plugins/dlbricks/bricks/recipe.js';
import { compose } from '../../../../plugins/dlbricks/estimate/compose.js';
import { subjectKey } from '../../../../src/measurement/measurement.js';
import type { Measurement } from '../../../../src/measurement/measurement.js';
import { sampleMeasurement, signatureOf } from '../../../store/sample-measurement.js';
import {
  CALL_MS,
  crashed,
  FOOTPRINT_BYTES,
  measuredCall,
  measuredTogetherOn,
  OVERHEAD_MS,
  recipeOf,
  recipeTogether,
  surrounded,
  measuredBrick,
} from '../support/measured-bricks.js';
import { near } from '../../../support/near.js';
import { commonSpread } from '../support/spreads.js';

const LEAVING = 50;
const STAYING = 51;

function takes(index: number, ms: number): Measurement {
  return sampleMeasurement(index, { outcome: { kind: 'samples', runMs: [ms, ms, ms, ms, ms], warmupMs: [] } });
}

/** Brick 0 three times, brick 1 once. */
const recipe = recipeTogether([3, 1]);
const bricks = [measuredTogetherOn(1, 0, 10), measuredTogetherOn(1, 1, 4)];

describe('a model of bricks that are measured together', () => {
  test('takes the time of each brick without the overhead, and its own call once', () => {
    const estimate = compose(surrounded(recipe), groupObservations([measuredCall, ...bricks]));
    near(estimate.sequential?.ms, 3 * 10 + 4 + CALL_MS);
    assert.deepEqual([estimate.coverage, estimate.missing], [1, []]);
    near(estimate.profileMs, (3 + 1) * OVERHEAD_MS);
  });

  test('has the names of the kernels of each sequence, where they are known', () => {
    const names = [['conv1'], ['conv2'], ['conv3'], ['pool']];
    const { placed } = compose({ ...surrounded(recipe), names }, groupObservations([measuredCall, ...bricks]));
    assert.deepEqual(
      placed.map(({ kernels, operators }) => [kernels, operators]),
      [
        [['conv1'], ['Op0']],
        [['conv2'], ['Op0']],
        [['conv3'], ['Op0']],
        [['pool'], ['Op1']],
      ],
    );
  });

  test('takes only its call if its optimized graph has no kernels', () => {
    const estimate = compose(surrounded(recipeTogether([])), groupObservations([measuredCall]));
    near(estimate.sequential?.ms, CALL_MS);
    assert.deepEqual([estimate.coverage, estimate.missing], [1, []]);
  });

  test('lists its bricks with the cost of their measurements, also bricks without one', () => {
    const { parts, parallel, sequential } = compose(
      surrounded(recipe),
      groupObservations([measuredCall, measuredTogetherOn(1, 0, 10), measuredTogetherOn(2, 0, crashed)]),
    );
    const context = { footprintBytes: FOOTPRINT_BYTES };
    assert.deepEqual(parts, [
      {
        signature: signatureOf(0),
        benchmark: subjectKey(signatureOf(0), context),
        operators: ['Op0'],
        count: 3,
        measured: { way: 'together' },
        ms: 10,
        onPath: 1,
        prediction: undefined,
        occasions: 1,
        processes: ['1'],
        tried: 2,
        runs: 5,
        costMs: 100,
      },
      {
        signature: signatureOf(1),
        benchmark: subjectKey(signatureOf(1), context),
        operators: ['Op1'],
        count: 1,
        measured: { way: 'together' },
        ms: undefined,
        onPath: 0,
        prediction: undefined,
        occasions: 0,
        processes: [],
        tried: 0,
        runs: 0,
        costMs: 0,
      },
    ]);
    // On a single occasion, no spread is known and so no interval.
    assert.deepEqual(sequential, { ms: 30 + CALL_MS, lowMs: undefined, highMs: undefined });
    assert.deepEqual(parallel, { ms: 10 + CALL_MS, lowMs: undefined, highMs: undefined });
  });

  test('ignores measurements of a brick alone, and in models of another size', () => {
    const others = [takes(0, 99), measuredTogetherOn(1, 0, 77, { footprintBytes: 4 * FOOTPRINT_BYTES })];
    const { coverage, missing } = compose(surrounded(recipe), groupObservations([measuredCall, ...others]));
    assert.equal(coverage, 0);
    assert.deepEqual(
      missing.map(({ reason }) => reason),
      ['not measured on this system', 'not measured on this system'],
    );
  });

  test('says how each of its bricks is measured', () => {
    const waysOf = (of: ModelRecipe) =>
      compose(surrounded(of), groupObservations([])).parts.map(({ measured }) => measured);
    const alone = { ...recipe, footprint_bytes: undefined };
    assert.deepEqual(waysOf(recipe), [{ way: 'together' }, { way: 'together' }]);
    assert.deepEqual(waysOf(alone), [{ way: 'alone' }, { way: 'alone' }]);
    assert.deepEqual(waysOf(recipeOf([1], { copies: 6 })), [{ way: 'copies', copies: 6 }]);
  });

  test('counts every occasion of a brick in its context, and none of another', () => {
    const elsewhere = measuredTogetherOn(1, 0, 9, { footprintBytes: 4 * FOOTPRINT_BYTES });
    const occasions = [...bricks, measuredTogetherOn(2, 0, crashed), measuredTogetherOn(3, 0, 12), elsewhere];
    const [first] = compose(surrounded(recipe), groupObservations([measuredCall, ...occasions])).parts;
    assert.deepEqual([first?.ms, first?.occasions, first?.tried, first?.runs, first?.costMs], [11, 2, 3, 10, 200]);
  });
});

describe('a model whose outputs take time to hand over', () => {
  const handing: ModelRecipe = {
    ...recipe,
    handing_over: { leaving: signatureOf(LEAVING), staying: signatureOf(STAYING) },
  };
  const known = [measuredCall, ...bricks];

  test('takes that time once', () => {
    const observations = groupObservations([...known, takes(LEAVING, 5), takes(STAYING, 2)]);
    const { sequential, parallel, missing } = compose(surrounded(handing), observations);
    near(sequential?.ms, 34 + CALL_MS + 3);
    // No sequence reads another one's output: the longest path is the slowest sequence. The calls are made in both
    // cases.
    near(parallel?.ms, 10 + CALL_MS + 3);
    assert.deepEqual(missing, []);
  });

  test('lists that time as missing if it is unknown; the sequences are still covered', () => {
    const failed = { ...takes(STAYING, 2), outcome: crashed };
    const estimate = compose(surrounded(handing), groupObservations([...known, takes(LEAVING, 5), failed]));
    near(estimate.sequential?.ms, 34 + CALL_MS);
    assert.deepEqual(
      [estimate.coverage, estimate.missing],
      [
        1,
        [
          {
            signature: signatureOf(LEAVING),
            operators: ['(handing over outputs)'],
            shapes: [],
            count: 0,
            reason: failureText(crashed),
          },
        ],
      ],
    );
  });

  test('has an interval that the noise of handing over widens', () => {
    const spread = commonSpread(0, 10);
    const widthWith = (runMs: number[]): number => {
      const leaving = sampleMeasurement(LEAVING, { outcome: { kind: 'samples', runMs, warmupMs: [] } });
      const observations = groupObservations([...known, leaving, takes(STAYING, 2)]);
      const { sequential } = compose(surrounded(handing), observations, spread);
      return (sequential?.highMs ?? NaN) - (sequential?.lowMs ?? NaN);
    };
    assert.ok(widthWith([4, 4.5, 5, 5.5, 6]) > widthWith([5, 5, 5, 5, 5]) + 0.01);
  });
});

test('a brick that is measured as copies is measured as copies in every model', () => {
  const asCopies: ModelRecipe = { ...recipeOf([1]), footprint_bytes: FOOTPRINT_BYTES };
  const { sequential, parts } = compose(
    surrounded(asCopies),
    groupObservations([measuredCall, ...measuredBrick(0, 10)]),
  );
  near(sequential?.ms, 10 + CALL_MS);
  assert.deepEqual(
    parts.map(({ measured }) => measured.way),
    ['copies'],
  );
});
