import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { computeSaving, judgeClaim, savingBetween } from '../../../../plugins/dlbricks/advise/advice.js';
import { adviceDocument, adviceTable, adviceVerdict } from '../../../../plugins/dlbricks/advise/advice-result.js';
import type { TimedVariant } from '../../../../plugins/dlbricks/advise/measure-variants.js';
import { TABLE_EXPORTERS } from '../../../../src/base/exporters/index.js';
import { shownTable } from '../../../../src/command/keyed-table.js';
import { htmlPage } from '../../../../src/web/page.js';
import { near } from '../../../support/near.js';

function variant(times: readonly (readonly [signature: string, ms: number])[], session: readonly unknown[] = []) {
  const recipe = { bricks: times.map(([signature]) => ({ signature })), sequences: times.map((_, at) => at) };
  const rounds = [1, 1, 1].map(() => times.map(([, ms]) => ms));
  return { prepared: { recipe }, runOptions: { session }, rounds } as unknown as TimedVariant;
}

describe('a saving', () => {
  test('is that of the differences within rounds, whatever the rounds have in common', () => {
    const saving = computeSaving([10, 20, 40], [9, 18, 36]);
    assert.ok(Math.abs((saving?.share ?? NaN) - 0.1) < 1e-9);
    assert.ok(Math.abs((saving?.low_ms ?? NaN) - (saving?.high_ms ?? NaN)) < 1e-6);
    assert.equal(saving?.seen, true);
  });

  test('below the resolution, or within its interval, is not seen', () => {
    assert.equal(computeSaving([10, 10, 10], [9.9, 9.9, 9.9])?.seen, false);
    assert.equal(computeSaving([10, 10, 10], [5, 12, 9])?.seen, false);
    assert.equal(computeSaving([10, 10, 10], [11, 11, 11])?.seen, false);
    assert.equal(computeSaving([], []), null);
  });

  test('is as wide as the kernels that differ, which may differ from their place in the model', () => {
    const today = variant([['Conv', 90], ['Relu', 10], ['Relu', 10]]); // prettier-ignore
    const fused =
      savingBetween(
        today,
        variant([
          ['Conv', 90],
          ['Relu', 10],
          ['Add', 5],
        ]),
      ) ?? assert.fail();
    const halfWidth = ({ low_ms: low, high_ms: high }: typeof fused) => ((high ?? NaN) - (low ?? NaN)) / 2;
    near(fused.saving_ms, 5);
    near(halfWidth(fused), 0.04 * 10);
    assert.equal(fused.seen, true);
    // In another session, nothing is measured once for both.
    const kernels = [['Conv', 90], ['Relu', 10], ['Relu', 6.5]] as const; // prettier-ignore
    const session = savingBetween(today, variant(kernels, [['session.disable_prepacking', '1']])) ?? assert.fail();
    near(halfWidth(session), 0.04 * 110);
    assert.ok(session.share > 0.03 && !session.seen);
  });

  test('holds where the whole model shows it too', () => {
    const claim = computeSaving([10, 10.1, 9.9], [9, 9.2, 8.8]) ?? assert.fail();
    const on = (times: readonly number[]) => {
      const doubled = times.map((ms) => 2 * ms);
      return judgeClaim(claim, computeSaving([20, 20, 20], doubled));
    };
    assert.equal(judgeClaim(claim, null), null);
    assert.equal(judgeClaim(claim, claim), 'holds');
    assert.equal(on([9.999, 10, 10.001]), 'does_not_hold');
    assert.equal(on([4, 16, 9]), 'not_seen');
  });

  test('is the verdict of a page: the first of each model, or that nothing is seen', () => {
    const saving = computeSaving([10, 10.1, 9.9], [9, 9.2, 8.8]) ?? assert.fail();
    const about = { setting: '--threads 2', measured_by: 'bricks' as const };
    const claim = { ...about, ...saving, verified: saving, outcome: judgeClaim(saving, saving) };
    const models = [
      { name: 'one', advice: [claim] },
      { name: 'two', advice: [] },
    ];
    assert.match(
      adviceVerdict(models, 5),
      /^one: do --threads 2: saves 1\.\d+ .*: the claim holds\. two: no setting saves more than 2 % here\.$/,
    );
  });
});

test('warnings come before the figures, on pages too', () => {
  const document = adviceDocument([], 3, null, ['the machine is busy']);
  const shown = shownTable(adviceTable(document), { document, title: 'Advice', warnings: document.warnings });
  assert.match(TABLE_EXPORTERS.markdown(shown.result()), /^the machine is busy/);
  assert.match(htmlPage([shown]), /<ul class="warnings"><li>the machine is busy/);
});

test('without kernels that gain, there is no table of titles only', () => {
  const document = adviceDocument([], 3, null);
  const textOf = (notes: readonly string[]) => {
    return shownTable({ ...adviceTable(document), notes }, { document, title: 'Advice' }).text({
      width: 80,
      color: false,
    });
  };
  assert.equal(textOf(['net: 2 ms whole']), 'net: 2 ms whole\n');
  assert.equal(textOf([]), 'nothing to show\n');
});
