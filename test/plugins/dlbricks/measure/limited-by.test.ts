import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compose } from '../../../../plugins/dlbricks/estimate/compose.js';
import { groupObservations } from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import { findLimit } from '../../../../plugins/dlbricks/measure/next-occasion.js';
import { signatureOf } from '../../../store/sample-measurement.js';
import { crashed, measuredCall, recipeOf, surrounded, measuredBrick } from '../support/measured-bricks.js';
import { spreadsOf } from '../support/spreads.js';

/** Whole models that repeat within 0.1 %. */
const STEADY = new Map([['another', [10, 10.01, 10, 10.01]]]);

describe('the limit that ended the measuring of bricks', () => {
  const model = surrounded(recipeOf([1]));
  const limitAfter = (targetError: number, ...latencies: readonly number[]) => {
    const observations = groupObservations([measuredCall, ...measuredBrick(0, ...latencies)]);
    const estimate = compose(model, observations, spreadsOf([model], observations, { wholes: STEADY }));
    return findLimit(estimate, { targetError, repeatLimit: 1, leastRepeatMs: 0 });
  };

  test('is the target if it is reached', () => assert.equal(limitAfter(0.05, 10, 10.01), 'target_error'));
  test('is the number of occasions if there are no more', () =>
    assert.equal(limitAfter(0.05, 10, 13, 9, 14, 8), 'occasions'));
  test('is the whole model if its own spread is nearly as wide', () => {
    const observations = groupObservations([measuredCall, ...measuredBrick(0, 10, 10.1, 9.9, 10.05)]);
    const wholes = new Map([['another', [10, 11, 12, 10]]]);
    const estimate = compose(model, observations, spreadsOf([model], observations, { wholes }));
    assert.equal(findLimit(estimate, { targetError: 0.05, repeatLimit: 1, leastRepeatMs: 0 }), 'whole_model');
  });
  test('is time otherwise', () => assert.equal(limitAfter(0.05, 10, 13, 9), 'time'));
  test('is undefined if no brick was measured on several occasions', () =>
    assert.equal(limitAfter(0.05, 10), undefined));

  test('is time if only some bricks have reached the number of occasions', () => {
    const both = surrounded(recipeOf([1, 1]));
    const measured = [...measuredBrick(0, 10, 13, 9, 14, 8), ...measuredBrick(1, 10, 13)];
    const observations = groupObservations([measuredCall, ...measured]);
    const estimate = compose(both, observations, spreadsOf([both], observations, { wholes: STEADY }));
    assert.equal(findLimit(estimate, { targetError: 0.001, repeatLimit: 1, leastRepeatMs: 0 }), 'time');
  });

  test('ignores a brick that has no latency at all', () => {
    const both = surrounded(recipeOf([1, 1]));
    const observations = groupObservations([
      measuredCall,
      ...measuredBrick(0, 10, 13, 9, 14, 8),
      ...measuredBrick(1, crashed),
    ]);
    const estimate = compose(both, observations, spreadsOf([both], observations, { wholes: STEADY }));
    assert.equal(estimate.missing[0]?.signature, signatureOf(1));
    assert.equal(findLimit(estimate, { targetError: 0.05, repeatLimit: 1, leastRepeatMs: 0 }), 'occasions');
  });
});
