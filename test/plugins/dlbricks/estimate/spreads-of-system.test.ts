import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findOccurrences, groupObservations } from '../../../../plugins/dlbricks/estimate/brick-latency.js';
import { type Earlier, spreadsFor, spreadsOfSystem } from '../../../../plugins/dlbricks/estimate/spreads-of-system.js';
import { near } from '../../../support/near.js';
import { measuredTogetherOn, recipeTogether, surrounded } from '../support/measured-bricks.js';
import { normalNumbers } from '../support/noise.js';

const recipe = surrounded(recipeTogether([1, 1, 1, 1]));

/** Four bricks on these occasions, each process off by some of these. */
function measured(...off: readonly number[]) {
  const noise = normalNumbers(3);
  return off.flatMap((d, index) =>
    [8, 4, 2, 1].map((ms, brick) => measuredTogetherOn(index + 1, brick, ms * (1 + d + 0.001 * noise()))),
  );
}

/** Twenty other composites of the system, whose processes vary by this. */
function earlier(spread: number): Earlier {
  const noise = normalNumbers(4);
  const bricks = Array.from({ length: 20 }, (_, composite) =>
    [1, 2].flatMap((occasion) => {
      const drift = spread * noise();
      return [1, 2, 3].map((ms) => {
        const own = spread * 0.1 * noise();
        return { brick: `${composite} ${ms}`, process: `${composite} ${occasion}`, ms: ms * (1 + drift + own) };
      });
    }),
  ).flat();
  return { bricks, wholes: new Map([['earlier', [10, 10.3]]]) };
}

describe('the spreads of a system', () => {
  test('pool earlier runs with this one, and with their whole models', () => {
    const observations = groupObservations(measured(-0.01, 0.01));
    const [alone, pooled] = [undefined, earlier(0.01)].map((one) => {
      return spreadsOfSystem([recipe], observations, { earlier: one });
    });
    near(alone?.bricks?.processes.degreesOfFreedom, 1);
    assert.ok((pooled?.bricks?.processes.degreesOfFreedom ?? 0) > 10);
    assert.deepEqual([...(pooled?.wholes.keys() ?? [])], ['earlier']);
  });

  test('leave out earlier runs of a quiet hour in a busy one: then intervals are wide by themselves', () => {
    const observations = groupObservations(measured(-0.3, 0.3, -0.2, 0.25));
    const { bricks, wholes } = spreadsOfSystem([recipe], observations, { earlier: earlier(0.005) });
    assert.ok((bricks?.processes.relative ?? 0) > 0.2);
    assert.equal(wholes.size, 0);
  });

  test('come from earlier runs if bricks were measured once', () => {
    const { bricks, reason } = spreadsOfSystem([recipe], groupObservations(measured(0)), { earlier: earlier(0.01) });
    assert.ok((bricks?.processes.relative ?? 0) > 0.004);
    assert.equal(reason, undefined);
  });

  test('come from further occasions of the same bricks in the store, where an estimate takes one of each', () => {
    const observations = groupObservations(measured(0));
    const stored = findOccurrences([recipe], groupObservations(measured(0, 0.02, -0.02)));
    const { bricks, reason } = spreadsOfSystem([recipe], observations, {
      earlier: { bricks: stored, wholes: new Map() },
    });
    assert.ok((bricks?.processes.relative ?? 0) > 0.01);
    assert.equal(reason, undefined);
  });

  test('are unknown without any brick, for this reason', () => {
    assert.equal(spreadsOfSystem([recipe], new Map()).reason, 'no brick was measured');
  });

  test('are unknown with a reason if bricks were measured once and others disturbed them', () => {
    const conditions = { wallMs: 1000, cores: 2, othersMs: 900 };
    const disturbed = measured(0).map((measurement) => ({ ...measurement, conditions }));
    const spreads = spreadsOfSystem([recipe], groupObservations(disturbed), { earlier: earlier(0.01) });
    assert.equal(spreadsFor(spreads), undefined);
    assert.match(spreads.reason ?? '', /others disturbed/);
  });

  test('are unknown with a reason in a store without a brick on several occasions', () => {
    const spreads = spreadsOfSystem([recipe], groupObservations(measured(0)), {
      earlier: { bricks: [], wholes: new Map() },
    });
    assert.equal(spreadsFor(spreads), undefined);
    assert.match(spreads.reason ?? '', /measured once/);
  });

  test('of whole models leave out the model that the interval is for', () => {
    const wholes = new Map([
      ['one', [10, 11, 10, 11]],
      ['other', [10, 10.1, 10, 10.1]],
    ]);
    const spreads = spreadsOfSystem([recipe], groupObservations(measured(-0.01, 0.01)), { wholes });
    near(spreadsFor(spreads, 'one')?.wholes?.relative, (Math.sqrt(4 / 3) * 0.05) / 10.05);
    near(spreadsFor(spreads, 'other')?.wholes?.degreesOfFreedom, 3);
  });

  test('of whole models count from three degrees of freedom on; before, those of bricks say more', () => {
    const observations = groupObservations(measured(-0.01, 0.01));
    const ofWholes = (...values: readonly number[]) => {
      return spreadsFor(spreadsOfSystem([recipe], observations, { wholes: new Map([['one', values]]) }))?.wholes;
    };
    assert.equal(ofWholes(10, 11, 10), undefined);
    near(ofWholes(10, 11, 10, 11)?.degreesOfFreedom, 3);
  });
});
