import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { savingOf } from '../../../../plugins/dlbricks/advise/advice.js';
import { adviceVerdict, outcomeOf } from '../../../../plugins/dlbricks/advise/advice-result.js';

describe('a saving', () => {
  test('is that of the differences within rounds, whatever the rounds have in common', () => {
    const saving = savingOf([10, 20, 40], [9, 18, 36]);
    assert.ok(Math.abs((saving?.share ?? NaN) - 0.1) < 1e-9);
    assert.ok(Math.abs((saving?.low ?? NaN) - (saving?.high ?? NaN)) < 1e-6);
    assert.equal(saving?.isSeen, true);
  });

  test('below the resolution, or within its interval, is not seen', () => {
    assert.equal(savingOf([10, 10, 10], [9.9, 9.9, 9.9])?.isSeen, false);
    assert.equal(savingOf([10, 10, 10], [5, 12, 9])?.isSeen, false);
    assert.equal(savingOf([10, 10, 10], [11, 11, 11])?.isSeen, false);
    assert.equal(savingOf([], []), undefined);
  });

  test('holds where the whole model shows it too', () => {
    const claim = savingOf([10, 10.1, 9.9], [9, 9.2, 8.8]) ?? assert.fail();
    const on = (times: readonly number[]) =>
      outcomeOf({
        saving: claim,
        verified: savingOf(
          [20, 20, 20],
          times.map((ms) => 2 * ms),
        ),
      });
    assert.equal(outcomeOf({ saving: claim }), null);
    assert.equal(outcomeOf({ saving: claim, verified: claim }), 'holds');
    assert.equal(on([9.999, 10, 10.001]), 'does_not_hold');
    assert.equal(on([4, 16, 9]), 'not_seen');
  });

  test('is the verdict of a page: the first of each model, or that nothing is seen', () => {
    const saving = savingOf([10, 10.1, 9.9], [9, 9.2, 8.8]) ?? assert.fail();
    const claims = [{ setting: '--threads 2', by: 'bricks' as const, saving, verified: saving }];
    assert.match(
      adviceVerdict(
        [
          { model: 'one', claims },
          { model: 'two', claims: [] },
        ],
        5,
      ),
      /^one: do --threads 2: saves 1\.\d+ .*: the claim holds\. two: no setting saves more than 2 % here\.$/,
    );
  });
});
