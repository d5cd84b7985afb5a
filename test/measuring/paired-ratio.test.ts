import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type PairedTimes, pairedRatio } from '../../src/measuring/paired-ratio.js';
import { normalNumbers } from '../plugins/dlbricks/support/noise.js';

describe('the ratio of two sides', () => {
  test('is the geometric mean of the rounds, with an interval around it', () => {
    const found = pairedRatio([
      [10, 20],
      [10, 5],
      [10, 10],
    ]);
    assert.equal(found?.rounds, 3);
    assert.ok(Math.abs((found?.ratio ?? 0) - 1) < 1e-12);
    // Deviation ln 2, three rounds: 4.3027 * ln 2 / sqrt(3) = 1.7219.
    assert.ok(Math.abs(Math.log(found?.high ?? 0) - 1.7219) < 1e-3);
    assert.ok(Math.abs(Math.log(found?.low ?? 0) + 1.7219) < 1e-3);
  });

  test('a change that affects both sides of a round is in no interval', () => {
    const rounds = [1, 1.5, 0.7, 3].map((load): PairedTimes => [10 * load, 10.3 * load]);
    const found = pairedRatio(rounds);
    assert.ok(found?.low !== undefined && found.high !== undefined);
    assert.ok(found.high - found.low < 1e-9);
    assert.ok(Math.abs(found.ratio - 1.03) < 1e-9);
  });

  test('several intervals of one table are wider than one', () => {
    const rounds: PairedTimes[] = [
      [10, 11],
      [10, 10.5],
      [10, 10.2],
    ];
    const [one, many] = [1, 20].map((comparisons) => pairedRatio(rounds, { tail: 0.05, comparisons }));
    assert.equal(one?.ratio, many?.ratio);
    assert.ok((many?.high ?? 0) > (one?.high ?? 0));
  });

  test('a round that something disturbs on one side hardly matters', () => {
    const normal = normalNumbers(5);
    const rounds = Array.from({ length: 20 }, (): PairedTimes => [10, 10.3 * Math.exp(0.005 * normal())]);
    const disturbed = rounds.map((times, index): PairedTimes => (index < 3 ? [10, 20] : times));
    const plain = pairedRatio(rounds);
    const found = pairedRatio(disturbed);
    assert.ok(plain?.low !== undefined && found?.low !== undefined && found.high !== undefined);
    assert.ok(Math.abs(found.ratio - 1.03) < 0.005 && found.low > 1.02 && found.high < 1.04, JSON.stringify(found));
  });

  test('has no interval with one round, and is unknown without any', () => {
    assert.deepEqual(pairedRatio([[2, 3]]), { ratio: 1.5, low: undefined, high: undefined, rounds: 1 });
    assert.equal(pairedRatio([[0, 3]]), undefined);
    assert.equal(pairedRatio([]), undefined);
  });

  test('of the same side twice, at most one table of twenty calls something different', () => {
    const normal = normalNumbers(29);
    let alarms = 0;
    const tables = 400;
    for (let table = 0; table < tables; table++) {
      const comparisons = 20;
      const isDifferent = Array.from({ length: comparisons }, () => {
        const rounds = Array.from({ length: 8 }, (): PairedTimes => {
          const common = Math.exp(0.2 * normal());
          return [common * Math.exp(0.02 * normal()), common * Math.exp(0.02 * normal())];
        });
        const found = pairedRatio(rounds, { tail: 0.05, comparisons });
        return found !== undefined && ((found.low ?? 0) > 1 || (found.high ?? 2) < 1);
      });
      if (isDifferent.includes(true)) alarms++;
    }
    // 20 are expected at most; with more than 33, the true rate would be above 5 % with 99.9 % probability.
    assert.ok(alarms <= 33, `${alarms} of ${tables} tables`);
  });
});
